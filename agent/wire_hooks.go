package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/hooks"
	"kubehenge.dev/agent/placement"
	"kubehenge.dev/render"
)

// HooksOptions say where Cluster API's questions are answered.
type HooksOptions struct {
	// Listen is the address of the hooks; empty serves none, and then no cluster of a class that asks for them is built.
	Listen string
	// CertDir holds tls.crt and tls.key, and in ca.crt who vouches for them, as cert-manager writes them.
	CertDir string
	// URL or Service (namespace/name:port) is where Cluster API reaches all replicas.
	URL, Service string
}

func (o *HooksOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Listen, "hooks-listen", "", "address for Cluster API's questions, such as :9444 (default: none; no cluster is built then)")
	f.StringVar(&o.CertDir, "hooks-cert-dir", "", "folder with tls.crt, tls.key and ca.crt for them; read again when they change")
	f.StringVar(&o.URL, "hooks-url", "", "https URL at which Cluster API reaches them, outside of the management cluster")
	f.StringVar(&o.Service, "hooks-service", "", "namespace/name:port of the Service at which Cluster API reaches them, inside of it")
}

func (o *HooksOptions) check() error {
	if o.Listen == "" {
		return nil
	}
	var errs []error
	if o.CertDir == "" {
		errs = append(errs, errors.New("--hooks-listen needs --hooks-cert-dir"))
	}
	if (o.URL == "") == (o.Service == "") {
		errs = append(errs, errors.New("--hooks-listen needs --hooks-url or --hooks-service, and not both"))
	}
	return errors.Join(errs...)
}

// addHooks serves the hooks on every replica, and has the leader register them.
func (p *parts) addHooks(context.Context) error {
	o := p.options.Hooks
	if o.Listen == "" {
		return nil
	}
	server, err := hooks.NewServer(hooks.Options{Listen: o.Listen, CertDir: o.CertDir, Clock: p.clock})
	if err != nil {
		return err
	}
	if err := p.manager.Add(server); err != nil {
		return err
	}
	if err := p.manager.AddReadyzCheck("hooks", server.StartedChecker()); err != nil {
		return err
	}
	p.registration = &hooks.Registration{
		Client: p.manager.GetClient(), Direct: p.manager.GetAPIReader(), Where: o.URL + o.Service,
		CAFile: filepath.Join(o.CertDir, "ca.crt"), Clock: p.clock, Found: p.wakeAll,
		Lacks: p.capmox.Lacks, Again: p.capmoxChanged,
	}
	p.require(known{p.registration})
	return p.manager.Add(p.registration)
}

// known has classes wait until Cluster API knows the hooks that they ask for.
type known struct{ registration *hooks.Registration }

// Ensure is the registration's word.
func (k known) Ensure(context.Context, *render.Class) error { return k.registration.Ready() }

// wakeAll has every claim of Git looked at.
func (p *parts) wakeAll() {
	desired := p.store.Get()
	if desired == nil {
		return
	}
	var keys []types.NamespacedName
	for key := range desired.Claims {
		keys = append(keys, key)
	}
	p.wake(keys...)
}

// addPlacement chooses nodes for clusters.
func (p *parts) addPlacement(context.Context) error {
	return placement.Setup(p.manager, &placement.Placement{
		Client: p.manager.GetClient(), Source: p.proxmox, Store: p.store, Board: p.board, Clock: p.clock,
	})
}
