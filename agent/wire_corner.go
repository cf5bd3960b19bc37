package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kubehenge.dev/agent/corner"
)

// CornerOptions say what clusters are told about Proxmox VE, and how long their tokens last.
type CornerOptions struct {
	// URL and CAFile are Proxmox VE's as the clusters reach it; empty for the agent's own.
	URL, CAFile string
	// Region is what Proxmox VE is called in the clusters; it must never change.
	Region string
	// MaxAge is the age at which a token is rotated; 0 for never. Grace is how long the former one lives on.
	MaxAge, Grace time.Duration
}

// Defaults of CornerOptions.
const (
	defaultTokenAge   = 90 * 24 * time.Hour
	defaultTokenGrace = 10 * time.Minute
)

func (o *CornerOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.URL, "cluster-proxmox-url", "", "URL of Proxmox VE as the clusters reach it (default: --proxmox-url)")
	f.StringVar(&o.CAFile, "cluster-proxmox-ca-file", "", "PEM certificates that vouch for it in the clusters (default: --proxmox-ca-file)")
	f.StringVar(&o.Region, "proxmox-region", corner.DefaultRegion, "what Proxmox VE is called in the clusters; part of every volume's name, so never change it")
	f.DurationVar(&o.MaxAge, "token-max-age", defaultTokenAge, "age at which a cluster's Proxmox VE token is rotated; 0 for never")
	f.DurationVar(&o.Grace, "token-grace", defaultTokenGrace, "how long the former token lives on once the new one is in the cluster")
}

func (o *CornerOptions) check() error {
	var errs []error
	if o.URL != "" && !strings.HasPrefix(o.URL, "https://") {
		errs = append(errs, fmt.Errorf("--cluster-proxmox-url is %q; it has to begin with https://", o.URL))
	}
	if o.MaxAge != 0 && o.MaxAge < time.Hour || o.Grace < 0 {
		errs = append(errs, fmt.Errorf("--token-max-age %s and --token-grace %s: at least 1h, or 0 for never, and nothing negative", o.MaxAge, o.Grace))
	}
	return errors.Join(errs...)
}

// addCorner gives each cluster its own corner of Proxmox VE, and watches over it.
func (p *parts) addCorner(context.Context) error {
	settings, err := cornerSettings(p.options)
	if err != nil {
		return err
	}
	k := corner.New(p.lists)
	k.Proxmox = corner.Proxmox{
		Accounts: p.proxmox.Accounts(), Changes: p.proxmox.Changes(), Pools: p.proxmox.Pools(), Members: p.proxmox.Memberships(), Tasks: p.proxmox.Tasks(),
		Taken: p.proxmox.Machines().Taken,
	}
	k.Client, k.Direct, k.Events, k.Clock = p.manager.GetClient(), p.manager.GetAPIReader(), p.events(), p.clock
	k.Board, k.Volumes, k.Settings = p.board, p.volumes, settings
	p.reconciler.Corners = k
	return p.manager.Add(&corner.Watch{Keeper: k, Clusters: p.manager.GetClient(), Fleet: p.store.Fleet, Wake: p.wake, Clock: p.clock})
}

func cornerSettings(o Options) (corner.Settings, error) {
	s := corner.Settings{URL: o.Corner.URL, Region: o.Corner.Region, MaxAge: o.Corner.MaxAge, Grace: o.Corner.Grace}
	if s.URL == "" {
		s.URL = o.ProxmoxURL
	}
	file := o.Corner.CAFile
	if file == "" {
		file = o.ProxmoxCAFile
	}
	var err error
	if s.CA, err = optionalFile(file); err != nil {
		return s, fmt.Errorf("read the certificates for clusters: %w", err)
	}
	s.URL, err = withAPIPath(s.URL)
	return s, err
}

// withAPIPath adds the path that the agent does without, and the plugins in the clusters do not.
func withAPIPath(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("read Proxmox VE's URL for clusters: %w", err)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/api2/json"
	}
	return strings.TrimRight(u.String(), "/"), nil
}
