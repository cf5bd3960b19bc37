package corner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Settings are what clusters are told about Proxmox VE, and how old their tokens get.
type Settings struct {
	// URL is the API's address as the clusters reach it, such as https://pve1.example.org:8006/api2/json.
	URL string
	// CA are the certificates, in PEM, that vouch for it; empty where the nodes' own do.
	CA []byte
	// Region names Proxmox VE in the clusters: it is the label topology.kubernetes.io/region of their nodes and part of
	// every volume's name, so it must never change. Default: proxmox.
	Region string
	// MaxAge is the age at which a token is rotated; 0 for never.
	MaxAge time.Duration
	// Grace is how long the former token lives on once its successor is in the cluster: what runs there has to read
	// the new one first.
	Grace time.Duration
}

// DefaultRegion is the region where none is set.
const DefaultRegion = "proxmox"

// Proxmox is Proxmox VE as far as corners need it.
type Proxmox struct {
	Accounts proxmox.Accounts
	Changes  proxmox.Changes
	Pools    proxmox.Pools
	Members  proxmox.Memberships
	Tasks    proxmox.Tasks
	// Taken says whether a VMID is any guest's, one that no list shows included.
	Taken func(ctx context.Context, vmid int) (bool, error)
}

// Owner is a cluster's volume owner, for who releases its volumes.
type Owner struct {
	// Cluster is the cluster's namespace and name.
	Cluster types.NamespacedName
	// VMID and Node are the owner VM's.
	VMID int
	Node string
	// WorkloadPool is the pool above the cluster's.
	WorkloadPool string
}

// Volumes are asked before a cluster's owner VM goes.
type Volumes interface {
	// Release deletes the volumes of a cluster that Proxmox VE does not delete with the owner VM: those on other
	// nodes' local storage. It is done when it returns nil; what it waits for is a *status.Told.
	Release(ctx context.Context, o Owner) error
}

// Request is a cluster whose corner is looked after.
type Request struct {
	// Claim is the live claim, which holds the allocation in its status.
	Claim *v1alpha1.ClusterClaim
	// Cluster is the live Cluster; nil once it is gone.
	Cluster *clusterv1.Cluster
	// Fleet holds the workload pool.
	Fleet *v1alpha1.Fleet
}

// Keeper looks after the corners of all clusters. It is safe for concurrent use, not for one cluster at once: the
// claims' queue sees to that.
type Keeper struct {
	// Proxmox is what is changed there; with the agent's own token.
	Proxmox Proxmox
	// Client writes to the management cluster, and reads Clusters and claims from the cache.
	Client client.Client
	// Direct reads from the API server; Secrets are in no cache.
	Direct client.Reader
	// Events tells people at the claim what was done.
	Events events.EventRecorder
	// Clock is the time.
	Clock clock.PassiveClock
	// Settings are what the clusters are told.
	Settings Settings
	// Board is told what is waited for while the cluster keeps running; nil tells nobody.
	Board *status.Board
	// Volumes is asked before an owner VM goes; nil has nothing to release.
	Volumes Volumes

	seen *proxmox.Cache

	mu       sync.Mutex
	latest   *view
	memory   map[types.NamespacedName]remembered
	identity string // of the management cluster, once it was read

	// interrupt stops the work after the named step as a crash would; tests only.
	interrupt func(step string) error
}

// New is a Keeper that reads the lists of seen, and tells it of its writes. The fields are to be set.
func New(seen *proxmox.Cache) *Keeper {
	return &Keeper{seen: seen, memory: map[types.NamespacedName]remembered{}}
}

// step is one named part of a sequence. Each may be repeated, and the agent may be killed after any of them.
type step struct {
	name string
	// missing says what is to be done, from what was seen alone; empty for nothing.
	missing func(*work) string
	// do does it.
	do func(*work, context.Context) error
	// told is true where what is missing once the corner was whole was taken away by somebody.
	told bool
}

// work is one run for one cluster.
type work struct {
	*Keeper
	Request
	at   place
	view *view
	// made is true when the corner was whole before: what is missing then was taken away by somebody.
	made bool
	// present are the user's tokens, those that this run made or dropped taken into account.
	present []proxmox.Token
	// dropped are the whole names of the tokens that this run removed.
	dropped []string
	// known is what is remembered of the cluster; run keeps it.
	known remembered
	// who names this management cluster.
	who string
	// fresh is the secret of a token that was made in this run and is not stored yet, and its mark.
	fresh     string
	freshMark mark
	// did is what was done, as told to people.
	did []string
	// wrote is true once Proxmox VE was changed.
	wrote bool
}

// remembered is what one process knows of a cluster beyond the lists; losing it costs calls and nothing else.
type remembered struct {
	// stored is what the Secret held when it was last read or written; nil for no usable Secret.
	stored *stored
	// set is true where the ClusterResourceSet was as it should be.
	set bool
	// looked is when the Secret and its ClusterResourceSet were last looked at.
	looked time.Time
	// delivered is since when the Secret as it is was seen to be in the cluster; zero while it is not.
	delivered time.Time
	// gone is true once fresh lists showed no VM of a cluster whose Cluster is gone: none can come any more.
	gone bool
	// asked is the first VMID of its block that was not asked about since.
	asked int
}

// stale is true when what the management cluster holds has to be looked at again. Clusters take turns in that.
func (w *work) stale() bool {
	turn := time.Duration(w.at.owner()/blockSize%10) * lookAgain / 10
	return w.known.looked.IsZero() || w.Clock.Since(w.known.looked) >= lookAgain+turn
}

// lookAgain is how long what is in the management cluster is taken to be as it was left.
const lookAgain = 10 * time.Minute

var errNoAllocation = errors.New("the claim's status has no allocation")

func (k *Keeper) begin(ctx context.Context, r Request) (*work, error) {
	if r.Claim.Status.Allocation == nil {
		return nil, errNoAllocation
	}
	key := client.ObjectKeyFromObject(r.Claim)
	who, err := k.whoami(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := k.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("see the corner of %s: %w", key, err)
	}
	w := k.newWork(r, seen)
	w.who = who
	return w, nil
}

func (k *Keeper) newWork(r Request, seen *view) *work {
	key := client.ObjectKeyFromObject(r.Claim)
	w := &work{Keeper: k, Request: r, at: placeOf(key, r.Fleet, r.Claim.Status.Allocation), view: seen}
	w.present = slices.Clone(seen.users[w.at.user].Tokens)
	w.made = r.Cluster != nil && r.Cluster.Annotations[v1alpha1.CornerAnnotation] == v1alpha1.CornerReady
	k.mu.Lock()
	defer k.mu.Unlock()
	w.known = k.memory[key]
	return w
}

// whoami names this management cluster to later ones, by the UID of the namespace that holds the classes: it is never
// deleted, and comes back with a backup.
func (k *Keeper) whoami(ctx context.Context) (string, error) {
	k.mu.Lock()
	who := k.identity
	k.mu.Unlock()
	if who != "" {
		return who, nil
	}
	ns := &corev1.Namespace{}
	if err := k.Direct.Get(ctx, types.NamespacedName{Name: v1alpha1.SystemNamespace}, ns); err != nil {
		return "", fmt.Errorf("read which management cluster this is: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.identity = "management cluster " + string(ns.UID)
	return k.identity, nil
}

// keep remembers what the run has learnt.
func (w *work) keep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.memory[w.at.cluster] = w.known
}

func (k *Keeper) forget(key types.NamespacedName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.memory, key)
}

// run takes the steps in order. The lists are read anew after a run that changed something.
func (w *work) run(ctx context.Context, steps []step) error {
	defer func() {
		w.keep()
		if w.wrote {
			w.seen.Forget()
		}
	}()
	for _, s := range steps {
		if what := s.missing(w); what != "" {
			if err := s.do(w, ctx); err != nil {
				return w.explain(s.name, err)
			}
			if s.told {
				w.did = append(w.did, what)
			}
		}
		if w.interrupt != nil {
			if err := w.interrupt(s.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// write notes that a write may have had an effect, and passes on its error: what Proxmox VE refused has none, so that
// one who is refused again and again has no lists read anew.
func (w *work) write(err error) error {
	if !proxmox.Is(err, proxmox.Forbidden, proxmox.Invalid, proxmox.InUse, proxmox.Locked, proxmox.NodeOffline, proxmox.Unauthorized, proxmox.Unsupported) {
		w.wrote = true
	}
	return err
}

// wait waits for a task, but not for ever: a worker that waits serves no other claim.
func (w *work) wait(ctx context.Context, task proxmox.UPID, err error) error {
	if w.write(err) != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, taskPatience)
	defer cancel()
	_, err = w.Proxmox.Tasks.Wait(ctx, task, nil)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("task %s takes longer than %s", task.Type, taskPatience)
	}
	return err
}

// taskPatience is far longer than making or removing a VM without disks takes.
const taskPatience = 30 * time.Second

// tell says at the claim what was done; once a run.
func (w *work) tell(ctx context.Context, kind, reason, note string) {
	log.FromContext(ctx).Info(note, "cluster", w.at.cluster.String())
	if w.Events != nil {
		w.Events.Eventf(w.Claim, nil, kind, reason, "Corner", "%s", short(note))
	}
}

// short keeps a note within the API's limit of 1,024 bytes.
func short(note string) string {
	const most = 1000
	if len(note) <= most {
		return note
	}
	return strings.ToValidUTF8(note[:most], "")
}

func (w *work) tellPutBack(ctx context.Context) {
	if w.made && len(w.did) > 0 {
		w.tell(ctx, corev1.EventTypeWarning, "CornerPutBack", "Somebody changed the cluster's corner of Proxmox VE; put back: "+strings.Join(w.did, ", "))
	}
}
