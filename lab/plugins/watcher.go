// Package plugins answers who plays the plugins that run inside workload clusters and talk to Proxmox VE: one process
// that plays them for every cluster of the lab, from the moment on that the cluster has a kubeconfig.
package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/lab/plugins/session"
)

// Player plays one plugin for one cluster.
type Player interface {
	// Round does what there is to do in the cluster now.
	Round(ctx context.Context, kube kubernetes.Interface) error
	// Close lets go of what it holds.
	Close()
}

// Watcher plays plugins for all clusters of a management cluster.
type Watcher struct {
	// Management reads the clusters' kubeconfigs.
	Management client.Client
	// New are the players of one cluster.
	New func() []Player
	// Every is the time between two rounds in a cluster. With many clusters it grows, so that all of them together
	// are visited at most busiest times a second.
	Every time.Duration

	mu      sync.Mutex
	running map[types.NamespacedName]*cluster
	group   sync.WaitGroup
}

// busiest is how many rounds a second are played in all clusters together.
const busiest = 10

// cluster is one that is played for.
type cluster struct {
	version string // of its kubeconfig
	stop    context.CancelFunc
}

// kubeconfigSuffix ends the names of the Secrets that Cluster API keeps kubeconfigs in.
const kubeconfigSuffix = "-kubeconfig"

// Run plays until the context ends.
func (w *Watcher) Run(ctx context.Context) error {
	w.running = map[types.NamespacedName]*cluster{}
	defer w.group.Wait()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Info("Cannot look for clusters; trying again", "why", err.Error())
		}
		if !sleep(ctx, w.pause()) {
			return nil
		}
	}
}

// pause is the time between two rounds in one cluster.
func (w *Watcher) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(w.Every, time.Duration(len(w.running))*time.Second/busiest)
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// look starts to play for clusters that are new, and ends for those that are gone.
func (w *Watcher) look(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "SecretList"})
	if err := w.Management.List(ctx, list, client.HasLabels{clusterv1.ClusterNameLabel}); err != nil {
		return fmt.Errorf("list the clusters' Secrets: %w", err)
	}
	found := map[types.NamespacedName]string{}
	for _, s := range list.Items {
		if strings.HasSuffix(s.Name, kubeconfigSuffix) {
			found[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = s.ResourceVersion
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, c := range w.running {
		if found[key] != c.version {
			c.stop()
			delete(w.running, key)
		}
	}
	for key, version := range found {
		if w.running[key] == nil {
			w.start(ctx, key, version)
		}
	}
	return nil
}

func (w *Watcher) start(ctx context.Context, key types.NamespacedName, version string) {
	ctx, stop := context.WithCancel(ctx)
	w.running[key] = &cluster{version: version, stop: stop}
	logger := log.FromContext(ctx).WithValues("cluster", key.Namespace+"/"+strings.TrimSuffix(key.Name, kubeconfigSuffix))
	w.group.Go(func() { w.play(log.IntoContext(ctx, logger), key) })
}

// play plays for one cluster. What fails is told once, until something else fails.
func (w *Watcher) play(ctx context.Context, key types.NamespacedName) {
	players := w.New()
	defer func() {
		for _, p := range players {
			p.Close()
		}
	}()
	said := make([]string, len(players))
	var kube kubernetes.Interface
	for sleep(ctx, w.pause()) {
		if kube == nil {
			var err error
			if kube, err = w.connect(ctx, key); err != nil {
				log.FromContext(ctx).Info("Cannot use the kubeconfig; trying again", "why", err.Error())
				continue
			}
		}
		for i, p := range players {
			said[i] = tell(ctx, said[i], p.Round(ctx, kube))
		}
	}
}

func tell(ctx context.Context, said string, err error) string {
	if err == nil || errors.Is(err, session.ErrNotConfigured) || ctx.Err() != nil {
		return ""
	}
	if err.Error() != said {
		log.FromContext(ctx).Info("Failed; trying again", "why", err.Error())
	}
	return err.Error()
}

// Calls a second to a cluster's API server, on average and at once.
const (
	queriesPerSecond = 20
	queryBurst       = 40
)

func (w *Watcher) connect(ctx context.Context, key types.NamespacedName) (kubernetes.Interface, error) {
	secret := &corev1.Secret{}
	if err := w.Management.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig in Secret %s: %w", key, err)
	}
	config.QPS, config.Burst, config.Timeout = queriesPerSecond, queryBurst, 20*time.Second
	return kubernetes.NewForConfig(config)
}
