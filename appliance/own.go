package appliance

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/utils/clock"

	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
)

// own is what the appliance asks Proxmox VE with its own token. Without a token it knows nothing, and people's own sessions are asked more often.
type own struct {
	client *proxmox.Client // nil without a token
	cache  *proxmox.Cache
	clock  clock.PassiveClock

	mu    sync.Mutex
	found map[string]string
	until time.Time
}

func newOwn(o proxmox.Options, c clock.PassiveClock) (*own, error) {
	if o.TokenID == "" {
		return &own{clock: c}, nil
	}
	client, err := proxmox.Connect(o)
	if err != nil {
		return nil, err
	}
	return &own{client: client, cache: client.Cached(view.MaxAge, c), clock: c}, nil
}

// pools are the pools that there are; nil when that is not known.
func (o *own) pools(ctx context.Context) map[string]bool {
	if o.client == nil {
		return nil
	}
	list, err := o.cache.Pools(ctx)
	if err != nil {
		return nil // each pool is asked about on its own then
	}
	names := make(map[string]bool, len(list))
	for _, p := range list {
		names[p.ID] = true
	}
	return names
}

// zones are the SDN zones of VNets, remembered as long as privileges are.
func (o *own) zones(ctx context.Context) (map[string]string, error) {
	if o.client == nil {
		return nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock.Now()
	if now.Before(o.until) {
		return o.found, nil
	}
	found, err := o.client.Zones(ctx)
	if err != nil {
		return nil, err
	}
	o.found, o.until = found, now.Add(view.MaxAge)
	return found, nil
}

// loadKey reads the appliance's signing key, or makes one at its first start.
func loadKey(path string) (ssh.Signer, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = newKey(path)
	}
	if err != nil {
		return nil, err
	}
	return git.ParseSigner(content)
}

func newKey(path string) ([]byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "kubehenge appliance")
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	content := pem.EncodeToMemory(block)
	// Under another name first, so that a crash leaves no half key.
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return nil, err
	}
	return content, os.Rename(path+".new", path)
}
