package real

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// etcdRetry is the pause between two tries of a change that etcd refuses for the moment.
const etcdRetry = 500 * time.Millisecond

// joinEtcd makes the machine's etcd a member: as a learner first, which has no vote, and once it has caught up for good.
// Upstream: kubernetes, cmd/kubeadm/app/phases/etcd/local.go (CreateStackedEtcdStaticPodManifestFile)
func (m *member) joinEtcd(ctx context.Context) error {
	ctx, end := context.WithTimeoutCause(ctx, etcdTimeout, errors.New("etcd did not agree within "+etcdTimeout.String()))
	defer end()
	client, err := m.etcdClient()
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // it has ended
	if err := m.dropFormerSelf(ctx, client); err != nil {
		return err
	}
	var added *clientv3.MemberAddResponse
	err = insist(ctx, "add learner", func(ctx context.Context) error {
		added, err = client.MemberAddAsLearner(ctx, []string{m.peerURL()})
		return err
	})
	if err != nil {
		return err
	}
	m.run(etcd, m.etcdArgs(m.initialCluster(added), "existing"))
	err = insist(ctx, "promote learner", func(ctx context.Context) error {
		if err := m.failed(etcd); err != nil {
			return errors.Join(errGiveUp, err)
		}
		_, err := client.MemberPromote(ctx, added.Member.ID)
		if errors.Is(err, rpctypes.ErrMemberNotLearner) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return insist(ctx, "wait for the member's name", func(ctx context.Context) error {
		return m.named(ctx, client, added.Member.ID)
	})
}

// named says whether a member has told the others its name; only then does it answer clients.
func (m *member) named(ctx context.Context, client *clientv3.Client, id uint64) error {
	list, err := client.MemberList(ctx)
	if err != nil {
		return err
	}
	for _, known := range list.Members {
		if known.ID == id && known.Name != "" {
			return nil
		}
	}
	return fmt.Errorf("member %x of node %s has no name yet", id, m.node.Name)
}

// etcdClient reaches the members on the other machines that are on.
func (m *member) etcdClient() (*clientv3.Client, error) {
	var endpoints []string
	for _, other := range m.cluster.controlPlane() {
		if other != m && other.running(etcd) {
			endpoints = append(endpoints, "https://"+other.etcdAddress())
		}
	}
	if len(endpoints) == 0 {
		return nil, errors.New("no etcd member runs")
	}
	config, err := m.etcdTLS()
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: endpoints, TLS: config, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
}

// dropFormerSelf removes what an attempt left behind that did not come to its end: the machine has no data of it any more.
func (m *member) dropFormerSelf(ctx context.Context, client *clientv3.Client) error {
	var list *clientv3.MemberListResponse
	err := insist(ctx, "list members", func(ctx context.Context) (err error) {
		list, err = client.MemberList(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, known := range list.Members {
		if known.Name != m.node.Name && !slices.Contains(known.PeerURLs, m.peerURL()) {
			continue
		}
		err := insist(ctx, "remove former member", func(ctx context.Context) error {
			_, err := client.MemberRemove(ctx, known.ID)
			if errors.Is(err, rpctypes.ErrMemberNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// initialCluster is all members with their peer URLs; the new one has no name yet.
func (m *member) initialCluster(added *clientv3.MemberAddResponse) string {
	var list []string
	for _, other := range added.Members {
		name := other.Name
		if other.ID == added.Member.ID {
			name = m.node.Name
		}
		for _, url := range other.PeerURLs {
			list = append(list, name+"="+url)
		}
	}
	return strings.Join(list, ",")
}

// errGiveUp marks errors that do not pass.
var errGiveUp = errors.New("it cannot succeed")

// insist tries until etcd agrees, a member that joined before may still be settling in, or ctx ends.
func insist(ctx context.Context, what string, try func(context.Context) error) error {
	for {
		attempt, end := context.WithTimeout(ctx, 5*time.Second)
		err := try(attempt)
		end()
		if err == nil {
			return nil
		}
		if errors.Is(err, errGiveUp) {
			return fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, errors.Join(context.Cause(ctx), err))
		case <-time.After(etcdRetry):
		}
	}
}
