package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// arrivals watches Clusters and knows when each commit came to be live at how many of them.
type arrivals struct {
	mu      sync.Mutex
	live    map[types.NamespacedName]string
	at      map[string][]time.Time // by commit, one a Cluster, in order
	ended   error
	changed chan struct{} // closed and replaced at each change
}

// watchClusters watches until the context ends.
func watchClusters(ctx context.Context, config *rest.Config) (*arrivals, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	clusters, err := client.Resource(clusterv1.GroupVersion.WithResource("clusters")).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("watch Clusters: %w", err)
	}
	a := &arrivals{live: map[types.NamespacedName]string{}, at: map[string][]time.Time{}, changed: make(chan struct{})}
	go a.follow(clusters)
	return a, nil
}

func (a *arrivals) follow(clusters watch.Interface) {
	for event := range clusters.ResultChan() {
		if o, ok := event.Object.(metav1.Object); ok {
			a.note(types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, o.GetAnnotations()[v1alpha1.RevisionAnnotation], time.Now())
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = errors.New("the API server ended the watch of Clusters")
	a.wake()
}

func (a *arrivals) note(cluster types.NamespacedName, commit string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if commit == "" || a.live[cluster] == commit {
		return
	}
	a.live[cluster] = commit
	a.at[commit] = append(a.at[commit], at)
	a.wake()
}

func (a *arrivals) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// wait waits until a commit is live at so many Clusters, and says since when.
func (a *arrivals) wait(ctx context.Context, commit string, clusters int) (time.Time, error) {
	for {
		a.mu.Lock()
		at, ended, changed := a.at[commit], a.ended, a.changed
		a.mu.Unlock()
		if len(at) >= clusters {
			return at[clusters-1], nil
		}
		if ended != nil {
			return time.Time{}, ended
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("wait for commit %.12s at %d Clusters, it is at %d: %w", commit, clusters, len(at), context.Cause(ctx))
		}
	}
}
