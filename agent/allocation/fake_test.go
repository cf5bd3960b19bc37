package allocation

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"kubehenge.dev/proxmox"
)

// errCrash is the process dying at a call.
var errCrash = errors.New("crashed")

// cluster is Proxmox VE as far as pools and guests go, with a fault at any call. It behaves as
// proxmox/simulator does; what is told apart here is the moment of the crash.
type cluster struct {
	mu     sync.Mutex
	pools  map[string]string
	guests map[int]string // VMID to pool
	calls  []string
	hidden map[string]bool // pools that the token may not see

	crashAt int  // at this call, counted from 1; 0 for never
	effect  bool // the call that crashes has its effect
	down    bool // no call has an answer
	before  func(call string)
}

func newCluster(pools ...string) *cluster {
	c := &cluster{pools: map[string]string{"kubehenge": "", "kubehenge-templates": ""}, guests: map[int]string{}, hidden: map[string]bool{}}
	for _, p := range pools {
		name, comment, _ := strings.Cut(p, "|")
		c.pools[name] = comment
	}
	return c
}

// call runs do unless the process dies before it.
func (c *cluster) call(name string, do func() error) error {
	if c.before != nil {
		c.before(name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, name)
	switch crash := c.crashAt == len(c.calls); {
	case c.down:
		return &proxmox.Error{Kind: proxmox.Transient, Method: "GET", Path: "/", Reason: "down"}
	case crash && !c.effect:
		return errCrash
	case crash:
		do()
		return errCrash
	}
	return do()
}

func (c *cluster) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

func (c *cluster) List(context.Context) (list []proxmox.Pool, err error) {
	err = c.call("list pools", func() error {
		for id, comment := range c.pools {
			if !c.hidden[id] {
				list = append(list, proxmox.Pool{ID: id, Comment: comment})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (c *cluster) Members(_ context.Context, pool string) (members []proxmox.Member, err error) {
	return members, c.call("members of "+pool, func() error {
		if _, ok := c.pools[pool]; !ok {
			return refusal(proxmox.NotFound, "pool '%s' does not exist", pool)
		}
		for _, id := range c.vmids(pool) {
			members = append(members, proxmox.Member{Type: "qemu", VMID: id, Name: fmt.Sprint("vm-", id)})
		}
		return nil
	})
}

func (c *cluster) Create(_ context.Context, pool, comment string) error {
	return c.call("create "+pool, func() error {
		if _, ok := c.pools[pool]; ok {
			return refusal(proxmox.Exists, "create pool failed: pool '%s' already exists", pool)
		}
		c.pools[pool] = comment
		return nil
	})
}

func (c *cluster) SetComment(_ context.Context, pool, comment string) error {
	return c.call("comment "+pool, func() error {
		if _, ok := c.pools[pool]; !ok {
			return refusal(proxmox.NotFound, "update pools failed: pool '%s' does not exist", pool)
		}
		c.pools[pool] = comment
		return nil
	})
}

func (c *cluster) Delete(_ context.Context, pool string) error {
	return c.call("delete "+pool, func() error {
		if _, ok := c.pools[pool]; !ok {
			return refusal(proxmox.NotFound, "delete pool failed: pool '%s' does not exist", pool)
		}
		if ids := c.vmids(pool); len(ids) > 0 {
			return refusal(proxmox.InUse, "delete pool failed: pool '%s' is not empty (contains VM %d)", pool, ids[0])
		}
		delete(c.pools, pool)
		return nil
	})
}

func (c *cluster) vmids(pool string) (ids []int) {
	for id, in := range c.guests {
		if in == pool {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func refusal(kind proxmox.Kind, format string, args ...any) error {
	return &proxmox.Error{Kind: kind, Method: "X", Path: "/pools", Status: 500, Reason: fmt.Sprintf(format, args...)}
}

// machines is the cluster's guests as proxmox.Machines; only List is asked.
type machines struct {
	proxmox.Machines
	*cluster
}

func (m machines) List(context.Context) (list []proxmox.Machine, err error) {
	return list, m.call("list guests", func() error {
		for id, pool := range m.guests {
			list = append(list, proxmox.Machine{Type: "qemu", VMID: id, Name: fmt.Sprint("vm-", id), Pool: pool})
		}
		slices.SortFunc(list, func(a, b proxmox.Machine) int { return a.VMID - b.VMID })
		return nil
	})
}

// yield lets the other goroutines run.
func yield() { runtime.Gosched() }
