package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcdOptions are the flags of the etcd subcommand: etcd's own, as far as the lab needs them, by etcd's names.
type etcdOptions struct {
	name, dataDir       string
	clientURL, peerURL  string
	cluster, state      string
	cert, key, ca       string
	peerCert, peerKey   string
	heartbeat, election uint // milliseconds
	snapshotCount, keep uint64
	noFsync             bool
}

func newEtcdCommand() *cobra.Command {
	var o etcdOptions
	cmd := &cobra.Command{
		Use:          "etcd",
		Short:        "Run one etcd member that asks for client certificates",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return o.run(ctx)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *etcdOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.name, "name", "lab", "the member's name")
	f.StringVar(&o.dataDir, "data-dir", "", "folder of the data")
	f.StringVar(&o.clientURL, "listen-client-url", "https://127.0.0.1:2379", "where clients connect")
	f.StringVar(&o.peerURL, "listen-peer-url", "https://127.0.0.1:2380", "where other members connect")
	f.StringVar(&o.cluster, "initial-cluster", "", "all members as name=peer URL, separated by commas (default: this one alone)")
	f.StringVar(&o.state, "initial-cluster-state", embed.ClusterStateFlagNew, "new or existing")
	f.StringVar(&o.cert, "cert-file", "", "certificate for serving clients")
	f.StringVar(&o.key, "key-file", "", "its key")
	f.StringVar(&o.peerCert, "peer-cert-file", "", "certificate towards other members (default: that for clients)")
	f.StringVar(&o.peerKey, "peer-key-file", "", "its key")
	f.StringVar(&o.ca, "trusted-ca-file", "", "CA of the clients' and the other members' certificates")
	f.UintVar(&o.heartbeat, "heartbeat-interval", 100, "milliseconds between the leader's heartbeats")
	f.UintVar(&o.election, "election-timeout", 1000, "milliseconds without one until an election")
	f.Uint64Var(&o.snapshotCount, "snapshot-count", 10000, "committed transactions between two snapshots")
	f.Uint64Var(&o.keep, "snapshot-catchup-entries", 5000, "entries kept in memory for slow members after a snapshot")
	f.BoolVar(&o.noFsync, "unsafe-no-fsync", false, "do not wait for the disk; data is lost when the machine crashes")
}

// run ends when it is told to, or when the member cannot go on: it is removed from its cluster, for instance. Until it
// has found its cluster it waits, however long that takes, as etcd does.
func (o *etcdOptions) run(ctx context.Context) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer member.Close()
	select {
	case <-ctx.Done():
		return nil
	case <-member.Server.StopNotify():
		return errors.New("etcd has stopped by itself")
	case err := <-member.Err():
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
	cfg.Name = o.name
	cfg.Dir = o.dataDir
	cfg.Logger, cfg.LogLevel = "zap", "warn"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	cfg.InitialCluster, cfg.ClusterState = o.cluster, o.state
	if cfg.InitialCluster == "" {
		cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	}
	cfg.ClientTLSInfo, cfg.PeerTLSInfo = o.tls(o.cert, o.key), o.tls(o.peerCert, o.peerKey)
	if o.peerCert == "" {
		cfg.PeerTLSInfo = cfg.ClientTLSInfo
	}
	cfg.TickMs, cfg.ElectionMs = o.heartbeat, o.election
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = o.snapshotCount, o.keep
	cfg.UnsafeNoFsync = o.noFsync
	cfg.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration // etcd's own flags set it, not the library
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "periodic", "1h"
	return cfg, nil
}

// tls asks for client certificates of the one CA.
func (o *etcdOptions) tls(cert, key string) transport.TLSInfo {
	return transport.TLSInfo{CertFile: cert, KeyFile: key, TrustedCAFile: o.ca, ClientCertAuth: true}
}
