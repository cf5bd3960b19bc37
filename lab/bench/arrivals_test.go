package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"kubehenge.dev/api/v1alpha1"
)

func newArrivals() *arrivals {
	return &arrivals{live: map[types.NamespacedName]string{}, at: map[string][]time.Time{}, changed: make(chan struct{})}
}

func at(second int64) time.Time { return time.Unix(second, 0) }

func TestACommitArrivesOnceAtEachCluster(t *testing.T) {
	a := newArrivals()
	one, other := types.NamespacedName{Name: "one"}, types.NamespacedName{Name: "other"}
	a.note(one, "c1", at(1))
	a.note(one, "c1", at(2)) // the Cluster changed otherwise
	a.note(other, "", at(3))
	a.note(other, "c1", at(4))
	got, err := a.wait(t.Context(), "c1", 2)
	if err != nil || !got.Equal(at(4)) {
		t.Errorf("at both since %v, %v; want %v", got, err, at(4))
	}
	if got, err = a.wait(t.Context(), "c1", 1); err != nil || !got.Equal(at(1)) {
		t.Errorf("at one since %v, %v; want %v", got, err, at(1))
	}
}

func TestWaitingEndsWithTheReasonAndTheCount(t *testing.T) {
	a := newArrivals()
	a.note(types.NamespacedName{Name: "one"}, "c1", at(1))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := a.wait(ctx, "c1", 2)
	if err == nil || !strings.Contains(err.Error(), "it is at 1: enough") {
		t.Errorf("error %v", err)
	}
}

func TestAWatchIsFollowedToItsEnd(t *testing.T) {
	a, clusters := newArrivals(), watch.NewFake()
	go a.follow(clusters)
	clusters.Modify(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "one", Annotations: map[string]string{v1alpha1.RevisionAnnotation: "c1"}}})
	if _, err := a.wait(t.Context(), "c1", 1); err != nil {
		t.Error(err)
	}
	clusters.Stop()
	if _, err := a.wait(t.Context(), "c2", 1); err == nil || !strings.Contains(err.Error(), "ended the watch") {
		t.Errorf("error %v, want that the watch ended", err)
	}
}
