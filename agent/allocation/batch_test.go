package allocation

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestRequestsThatWaitTogetherListThePoolsTwiceInAll(t *testing.T) {
	const clusters = 40
	ctx, c := context.Background(), newCluster()
	a := agent(c, start())
	a.turn <- struct{}{} // somebody else writes
	var all sync.WaitGroup
	var mu sync.Mutex
	given := map[string]bool{}
	for i := range clusters {
		all.Go(func() {
			r := request(fmt.Sprint("c", i), 2)
			r.Fleet.Spec.Networks[0].Nodes = []string{"10.1.0.0-10.1.255.255"}
			r.Fleet.Spec.Proxmox.VMIDs.End = 99999
			got, err := a.Ensure(ctx, r)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			given[strings.Join(got.Addresses, ",")] = true
		})
	}
	for waiting := 0; waiting < clusters; yield() {
		a.mu.Lock()
		waiting = len(a.waiting)
		a.mu.Unlock()
	}
	before := c.count()
	<-a.turn
	all.Wait()
	if calls := c.count() - before; calls != clusters+2 {
		t.Errorf("%d calls for %d clusters", calls, clusters)
	}
	if len(given) != clusters {
		t.Errorf("%d different answers for %d clusters", len(given), clusters)
	}
}

func TestARequestThatFailsDoesNotFailTheOthersOfItsTurn(t *testing.T) {
	ctx, c := context.Background(), newCluster()
	a := agent(c, start())
	a.turn <- struct{}{}
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i, nodes := range []int{2, 1000} {
		all.Go(func() { _, errs[i] = a.Ensure(ctx, request(fmt.Sprint("c", i), nodes)) })
	}
	for waiting := 0; waiting < 1; yield() { // the one that asks for too much may be refused before it waits
		a.mu.Lock()
		waiting = len(a.waiting)
		a.mu.Unlock()
	}
	<-a.turn
	all.Wait()
	if errs[0] != nil || KindOf(errs[1]) != Full {
		t.Errorf("got %v and %v", errs[0], errs[1])
	}
}
