package cluster_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// heap is what is in use, in bytes, once collections free no more: what earlier tests left ends at its own pace.
func heap() int64 {
	least := inUse()
	for quiet := 0; quiet < 5; quiet++ {
		if now := inUse(); now < least {
			least, quiet = now, 0
		}
	}
	return least
}

func inUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}

func TestAClusterTakesLessThanTwoMegabytes(t *testing.T) {
	const count, limit = 20, 2 << 20
	w := newWorld(t)
	w.start(t, "127.78.40.99:6443", "a") // what the first one initialises
	before := heap()
	clusters := make([]*running, count)
	for i := range clusters {
		clusters[i] = w.start(t, fmt.Sprintf("127.78.40.%d:6443", 100+i), "a", "b", "c")
		if _, err := clusters[i].client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	each := (heap() - before) / count
	t.Logf("%d kB a cluster, client included", each>>10)
	if each > limit {
		t.Errorf("a cluster takes %d bytes, want at most %d", each, limit)
	}
	for _, c := range clusters {
		w.registry.Remove(c.Cluster)
		if listens(c.Endpoint()) {
			t.Errorf("%s listens after its cluster has gone", c.Endpoint())
		}
	}
}
