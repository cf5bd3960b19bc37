package proxmox

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// DefaultAge is how old a list in a Cache may be. Each list that is asked for all the time costs six calls a minute.
const DefaultAge = 10 * time.Second

// Cache answers lists from memory while they are fresh, so that the number of calls grows with time and not with the
// number of clusters that ask. A failed read is remembered as long as a good one: when Proxmox VE is down, it is not
// asked by every cluster in turn. It is safe for concurrent use; the lists are shared and must not be changed.
type Cache struct {
	pools     remembered[[]Pool]
	machines  remembered[[]Machine]
	nodes     remembered[[]Node]
	users     remembered[[]User]
	grants    remembered[[]Grant]
	roles     remembered[[]Role]
	storages  remembered[[]Storage]
	resources remembered[[]HAResource]
	rules     remembered[[]HARule]
}

// NewCache remembers the lists of p, m and n for age (DefaultAge when 0). A nil interface makes its list unusable.
func NewCache(p Pools, m Machines, n Nodes, age time.Duration, c clock.PassiveClock) *Cache {
	if age == 0 {
		age = DefaultAge
	}
	cache := &Cache{}
	if p != nil {
		cache.pools.prepare(p.List, age, c)
	}
	if m != nil {
		cache.machines.prepare(m.List, age, c)
	}
	if n != nil {
		cache.nodes.prepare(n.List, age, c)
	}
	return cache
}

// Cached remembers every list of the client for age (DefaultAge when 0). Each is read only when it is asked for.
func (c *Client) Cached(age time.Duration, clk clock.PassiveClock) *Cache {
	if age == 0 {
		age = DefaultAge
	}
	cache := NewCache(c.Pools(), c.Machines(), c.Nodes(), age, clk)
	cache.users.prepare(c.Accounts().Users, age, clk)
	cache.grants.prepare(c.Accounts().Grants, age, clk)
	cache.roles.prepare(c.Accounts().Roles, age, clk)
	cache.storages.prepare(c.Storages().List, age, clk)
	cache.resources.prepare(c.HA().Resources, age, clk)
	cache.rules.prepare(c.HA().Rules, age, clk)
	return cache
}

// Pools is the list of pools. The same slice comes back until it is read anew.
func (c *Cache) Pools(ctx context.Context) ([]Pool, error) { return c.pools.get(ctx) }

// Machines is the list of guests.
func (c *Cache) Machines(ctx context.Context) ([]Machine, error) { return c.machines.get(ctx) }

// Nodes is the list of nodes.
func (c *Cache) Nodes(ctx context.Context) ([]Node, error) { return c.nodes.get(ctx) }

// Users is the list of users with their tokens.
func (c *Cache) Users(ctx context.Context) ([]User, error) { return c.users.get(ctx) }

// Grants is the list of ACL entries.
func (c *Cache) Grants(ctx context.Context) ([]Grant, error) { return c.grants.get(ctx) }

// Roles is the list of roles.
func (c *Cache) Roles(ctx context.Context) ([]Role, error) { return c.roles.get(ctx) }

// Storages is the list of storages' definitions.
func (c *Cache) Storages(ctx context.Context) ([]Storage, error) { return c.storages.get(ctx) }

// HAResources is the list of guests under HA.
func (c *Cache) HAResources(ctx context.Context) ([]HAResource, error) { return c.resources.get(ctx) }

// HARules is the list of HA rules.
func (c *Cache) HARules(ctx context.Context) ([]HARule, error) { return c.rules.get(ctx) }

// Forget makes the next question of each list go to Proxmox VE; call it after a write. A read that began before is
// not remembered.
func (c *Cache) Forget() {
	for _, list := range []interface{ forget() }{&c.pools, &c.machines, &c.nodes, &c.users, &c.grants, &c.roles, &c.storages, &c.resources, &c.rules} {
		list.forget()
	}
}

// remembered is one list.
type remembered[T any] struct {
	read  func(context.Context) (T, error)
	age   time.Duration
	clock clock.PassiveClock
	turn  chan struct{} // holds one token: whoever has it may read, the others wait for its result

	mu    sync.Mutex
	value T
	err   error
	until time.Time // zero: nothing remembered
	epoch int       // counts forget
}

func (r *remembered[T]) prepare(read func(context.Context) (T, error), age time.Duration, c clock.PassiveClock) {
	r.read, r.age, r.clock, r.turn = read, age, c, make(chan struct{}, 1)
}

func (r *remembered[T]) get(ctx context.Context) (T, error) {
	var none T
	if r.read == nil {
		return none, errors.New("this cache was made without that list")
	}
	if value, err, fresh := r.look(); fresh {
		return value, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if value, err, fresh := r.look(); fresh {
		return value, err
	}
	r.mu.Lock()
	epoch := r.epoch
	r.mu.Unlock()
	value, err := r.read(ctx)
	if ctx.Err() == nil {
		r.keep(epoch, value, err)
	}
	return value, err
}

func (r *remembered[T]) look() (value T, err error, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value, r.err, !r.until.IsZero() && r.clock.Now().Before(r.until)
}

func (r *remembered[T]) keep(epoch int, value T, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch != r.epoch {
		return
	}
	r.value, r.err, r.until = value, err, r.clock.Now().Add(r.age)
}

func (r *remembered[T]) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	r.until = time.Time{}
}
