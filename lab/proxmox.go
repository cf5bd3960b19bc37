package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"kubehenge.dev/proxmox/simulator"
)

// The tokens of the lab's Proxmox VE.
const (
	ProviderToken  = "kubehenge-provider@pve!capmox"
	AgentToken     = "kubehenge-agent@pve!agent"
	HAToken        = "kubehenge-ha@pve!ha"
	ApplianceToken = "kubehenge-appliance@pve!appliance"
)

// startProxmox starts the simulated Proxmox VE in this process. Its guests are a child, which is asked only when a
// machine is switched on.
func (l *Lab) startProxmox(context.Context) error {
	log, err := os.OpenFile(l.path("logs", "proxmox.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of Proxmox VE: %w", err)
	}
	l.onStop(func() { log.Close() })
	people, err := inventory()
	if err != nil {
		return err
	}
	server, err := simulator.New(simulator.Options{
		Inventory: people,
		Profile:   scaled(simulator.Lifelike(), l.options.Pace),
		Guests:    newGuests(l.guestsSocket()),
		Version:   l.options.ProxmoxVersion,
		Log:       slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return err
	}
	if err := server.Listen(l.Addresses.Proxmox()); err != nil {
		return err
	}
	l.onStop(server.Close)
	l.Proxmox = server
	return os.WriteFile(l.proxmoxCA(), server.CA(), 0o600)
}

// proxmoxCA is the path of the CA of Proxmox VE's certificate.
func (l *Lab) proxmoxCA() string { return l.path("pki", "proxmox-ca.crt") }

// tokenFile writes a token's secret to a file and returns its path.
func (l *Lab) tokenFile(token string) (string, error) {
	secret, ok := l.Proxmox.TokenSecret(token)
	if !ok {
		return "", fmt.Errorf("the simulated Proxmox VE has no token %s", token)
	}
	path := filepath.Join(l.path("run"), token+".secret")
	return path, os.WriteFile(path, []byte(secret), 0o600)
}

// scaled makes everything take pace times as long.
func scaled(p simulator.Profile, pace float64) simulator.Profile {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * pace) }
	tasks := make(map[string]time.Duration, len(p.Tasks))
	for kind, d := range p.Tasks {
		tasks[kind] = scale(d)
	}
	p.Tasks, p.Task = tasks, scale(p.Task)
	p.LoginDelay, p.Statistics, p.Unreachable = scale(p.LoginDelay), scale(p.Statistics), scale(p.Unreachable)
	p.ManagerCycle, p.FenceDelay = scale(p.ManagerCycle), scale(p.FenceDelay)
	return p
}
