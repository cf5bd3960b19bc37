package agent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"kubehenge.dev/agent/capmox"
	"kubehenge.dev/agent/corner"
	"kubehenge.dev/agent/hooks"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/proxmox"
)

// parts is what the parts of the agent have in common while they are set up. Each part has a file wire_<part>.go
// with one method, and a line in setup.
type parts struct {
	options Options
	manager ctrl.Manager
	metrics *metrics
	clock   clock.WithTicker

	// proxmox is Proxmox VE as the agent's own token sees it; lists are its bulk lists, read once for all.
	proxmox *proxmox.Client
	lists   *proxmox.Cache

	// store is the desired state, board what is said at claims.
	store *sync.Store
	board *status.Board
	// intake wakes claims; reconciler works on them. Parts that take part in that set their interface here, before
	// addSync.
	intake     *sync.Intake
	reconciler *sync.Reconciler

	// volumes is what deletes a cluster's volumes when it goes.
	volumes corner.Volumes
	// capmox knows how capmox is installed; capmoxChanged is sent to when that has changed.
	capmox        *capmox.Watch
	capmoxChanged <-chan struct{}
	// registration keeps Cluster API told where the hooks are; nil where none are served.
	registration *hooks.Registration
}

// setup are the parts in the order in which they are joined.
var setup = []struct {
	name string
	add  func(*parts, context.Context) error
}{
	{"metrics", (*parts).addMetrics},
	{"Proxmox VE", (*parts).addProxmox},
	{"allocation", (*parts).addAllocation},
	{"providers", (*parts).addProviders},
	{"capmox", (*parts).addCapmox},
	{"hooks", (*parts).addHooks},
	{"volumes", (*parts).addVolumes},
	{"corners", (*parts).addCorner},
	{"synchronisation", (*parts).addSync},
	{"placement", (*parts).addPlacement},
	{"remedy", (*parts).addRemedy},
	{"orphans", (*parts).addOrphans},
	{"high availability", (*parts).addHA},
	{"kubeconfigs", (*parts).addKubeconfigs},
	{"health checks", (*parts).addHealth},
}

// newParts are the parts before the first is set up.
func newParts(mgr ctrl.Manager, o Options) *parts {
	p := &parts{options: o, manager: mgr, clock: clock.RealClock{}, store: &sync.Store{}, intake: &sync.Intake{}}
	p.board = status.NewBoard(p.wake)
	p.reconciler = &sync.Reconciler{
		Client: mgr.GetClient(), Direct: mgr.GetAPIReader(), Store: p.store, Board: p.board,
		Events: recorder{mgr.GetEventRecorder("kubehenge")}, Clock: p.clock,
	}
	return p
}

// wake has claims looked at, once there is a queue.
func (p *parts) wake(keys ...types.NamespacedName) {
	if p.intake.Enqueue != nil {
		p.intake.Enqueue(keys...)
	}
}

func (p *parts) addMetrics(context.Context) error {
	m, err := newMetrics(p.manager.GetCache(), p.clock)
	p.metrics, p.reconciler.Observer = m, m
	return err
}

// addProxmox connects with the agent's own token; every call is counted.
func (p *parts) addProxmox(context.Context) error {
	o := p.options
	ca, err := optionalFile(o.ProxmoxCAFile)
	if err != nil {
		return fmt.Errorf("read --proxmox-ca-file: %w", err)
	}
	p.proxmox, err = proxmox.Connect(proxmox.Options{
		URL: o.ProxmoxURL, TokenID: o.ProxmoxTokenID, TokenFile: o.ProxmoxTokenFile, CA: ca, OnCall: p.metrics.proxmoxCall,
	})
	if err != nil {
		return err
	}
	p.lists = p.proxmox.Cached(0, p.clock)
	return nil
}
