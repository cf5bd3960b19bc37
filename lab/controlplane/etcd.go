package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
)

// startTimeout is how long etcd may take to elect itself; a second on an idle machine.
const startTimeout = 60 * time.Second

// etcdOptions are the flags of the etcd subcommand.
type etcdOptions struct {
	dataDir, clientURL, peerURL string
	cert, key, ca               string
	noFsync                     bool
}

func newEtcdCommand() *cobra.Command {
	var o etcdOptions
	cmd := &cobra.Command{
		Use:          "etcd",
		Short:        "Run one etcd member that asks for client certificates",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return o.run(ctx)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dataDir, "data-dir", "", "folder of the data")
	f.StringVar(&o.clientURL, "listen-client-url", "https://127.0.0.1:2379", "where clients connect")
	f.StringVar(&o.peerURL, "listen-peer-url", "https://127.0.0.1:2380", "where members would connect")
	f.StringVar(&o.cert, "cert-file", "", "certificate for serving and for peers")
	f.StringVar(&o.key, "key-file", "", "its key")
	f.StringVar(&o.ca, "trusted-ca-file", "", "CA of the clients' certificates")
	f.BoolVar(&o.noFsync, "unsafe-no-fsync", false, "do not wait for the disk; data is lost when the machine crashes")
	return cmd
}

func (o *etcdOptions) run(ctx context.Context) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-ctx.Done():
		return nil
	case <-time.After(startTimeout):
		return errors.New("etcd was not ready in time")
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Err():
		return fmt.Errorf("serve etcd: %w", err)
	}
}

func (o *etcdOptions) config() (*embed.Config, error) {
	client, err := url.Parse(o.clientURL)
	if err != nil {
		return nil, fmt.Errorf("client URL: %w", err)
	}
	peer, err := url.Parse(o.peerURL)
	if err != nil {
		return nil, fmt.Errorf("peer URL: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Name = "lab"
	cfg.Dir = o.dataDir
	cfg.Logger, cfg.LogLevel = "zap", "warn"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	tls := transport.TLSInfo{CertFile: o.cert, KeyFile: o.key, TrustedCAFile: o.ca, ClientCertAuth: true}
	cfg.ClientTLSInfo, cfg.PeerTLSInfo = tls, tls
	cfg.UnsafeNoFsync = o.noFsync
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "periodic", "1h"
	return cfg, nil
}
