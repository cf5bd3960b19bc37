package cluster_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"sort"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
	"sigs.k8s.io/cluster-api/util/secret"
)

// etcd asks one member for something, the way KubeadmControlPlane does: through a port-forward to its pod, with a
// client certificate of the CA given.
func (c *running) etcd(t *testing.T, node string, purpose secret.Purpose, ask func(context.Context, *grpc.ClientConn) error) error {
	t.Helper()
	client, err := c.data.Sign(purpose, "etcd-client", "")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(client.Certificate, client.Key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.data.Certificates.GetByPurpose(secret.EtcdCA).KeyPair.Cert)
	dialer, err := proxy.NewDialer(proxy.Proxy{Kind: "pods", Namespace: "kube-system", KubeConfig: c.admin, Port: 2379})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:///etcd-"+node,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, ServerName: "etcd-" + node})),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContextWithAddr(ctx, address)
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return ask(ctx, conn)
}

func (c *running) members(t *testing.T, node string) (names []string, leader string, err error) {
	t.Helper()
	err = c.etcd(t, node, secret.EtcdCA, func(ctx context.Context, conn *grpc.ClientConn) error {
		list, err := pb.NewClusterClient(conn).MemberList(ctx, &pb.MemberListRequest{})
		if err != nil {
			return err
		}
		status, err := pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
		if err != nil {
			return err
		}
		for _, m := range list.Members {
			names = append(names, m.Name)
			if m.ID == status.Leader {
				leader = m.Name
			}
		}
		return nil
	})
	sort.Strings(names)
	return names, leader, err
}

func TestEtcdAnswersThroughAPortForward(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.40:6443", "a", "b", "c")
	names, leader, err := c.members(t, "b")
	if err != nil || !slices.Equal(names, []string{"a", "b", "c"}) || leader != "a" {
		t.Fatalf("members %v, leader %q, error %v, want a, b, c with a as leader", names, leader, err)
	}
	if err := c.Stopped(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if names, leader, err := c.members(t, "b"); err != nil || len(names) != 3 || leader == "a" || leader == "" {
		t.Errorf("after the leader stopped: members %v, leader %q, error %v, want three and another leader", names, leader, err)
	}
	if _, _, err := c.members(t, "a"); err == nil {
		t.Error("the member of a machine that is off answers")
	}
	if err := c.Destroyed(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if names, leader, err := c.members(t, "b"); err != nil || len(names) != 2 || leader == "" {
		t.Errorf("after a was destroyed: members %v, leader %q, error %v, want two and a leader", names, leader, err)
	}
}

func TestEtcdWantsACertificateOfItsOwnCA(t *testing.T) {
	w := newWorld(t)
	c := w.start(t, "127.78.40.41:6443", "a")
	list := func(ctx context.Context, conn *grpc.ClientConn) error {
		_, err := pb.NewClusterClient(conn).MemberList(ctx, &pb.MemberListRequest{})
		return err
	}
	if err := c.etcd(t, "a", secret.EtcdCA, list); err != nil {
		t.Errorf("with a certificate of etcd's CA: %v", err)
	}
	if err := c.etcd(t, "a", secret.ClusterCA, list); err == nil {
		t.Error("a certificate of the cluster's CA was accepted")
	}
}
