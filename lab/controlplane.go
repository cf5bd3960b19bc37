package lab

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/pki"
	"kubehenge.dev/lab/process"
)

// The names of the control plane's processes.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
)

// controllers are those that a cluster without Pods has use for.
var controllers = []string{
	"garbage-collector-controller", "namespace-controller", "serviceaccount-controller", "serviceaccount-token-controller",
	"root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller", "resourcequota-controller",
	"validatingadmissionpolicy-status-controller", "ttl-after-finished-controller",
}

// startAPIServer starts etcd and, without waiting, kube-apiserver, which waits for it. They are not started as one
// batch, since etcd must be there until kube-apiserver has stopped.
func (l *Lab) startAPIServer(ctx context.Context) error {
	client, err := rest.HTTPClientFor(l.Config)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	if err := l.Processes.Start(ctx, l.etcd()); err != nil {
		return err
	}
	return l.Processes.Start(ctx, l.apiServer(client))
}

func (l *Lab) etcd() process.Spec {
	return process.Spec{
		Name: Etcd,
		Path: l.programs.Binaries[build.ControlPlane],
		Args: []string{
			"etcd",
			"--data-dir=" + l.path("etcd"),
			"--listen-client-url=https://" + l.on(etcdClientPort),
			"--listen-peer-url=https://" + l.on(etcdPeerPort),
			"--cert-file=" + l.pki.Cert(pki.Etcd), "--key-file=" + l.pki.Key(pki.Etcd),
			"--trusted-ca-file=" + l.pki.CAFile(),
			"--unsafe-no-fsync", // every start begins afresh
		},
		Env: collecting(50),
	}
}

func (l *Lab) apiServer(client *http.Client) process.Spec {
	return process.Spec{
		Name: APIServer,
		Path: l.programs.Binaries[build.ControlPlane],
		Args: []string{
			"kube-apiserver",
			"--etcd-servers=https://" + l.on(etcdClientPort),
			"--etcd-cafile=" + l.pki.CAFile(),
			"--etcd-certfile=" + l.pki.Cert(pki.EtcdUser), "--etcd-keyfile=" + l.pki.Key(pki.EtcdUser),
			"--bind-address=" + l.Services(), "--advertise-address=" + l.Services(),
			fmt.Sprintf("--secure-port=%d", apiServerPort),
			"--endpoint-reconciler-type=none",
			"--tls-cert-file=" + l.pki.Cert(pki.APIServer), "--tls-private-key-file=" + l.pki.Key(pki.APIServer),
			"--client-ca-file=" + l.pki.CAFile(),
			"--service-account-key-file=" + l.pki.ServiceAccountPub(),
			"--service-account-signing-key-file=" + l.pki.ServiceAccountKey(),
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-cluster-ip-range=10.96.0.0/16",
			"--authorization-mode=RBAC", "--anonymous-auth=true",
			"--profiling=false", "--allow-privileged=true", "--event-ttl=1h",
		},
		// The kinds of Cluster API, of the provider and ours take 280 MiB by themselves; at a limit near that half of a
		// core goes into collecting garbage.
		Env:   collecting(100),
		Ready: process.HTTP(client, "https://"+l.APIServer()+"/readyz"),
	}
}

func (l *Lab) controllerManager() (process.Spec, error) {
	kubeconfig, err := l.pki.Kubeconfig("kube-controller-manager", "system:kube-controller-manager")
	if err != nil {
		return process.Spec{}, err
	}
	client, err := rest.HTTPClientFor(l.Config)
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Name: ControllerManager,
		Path: l.programs.Binaries[build.ControlPlane],
		Args: []string{
			"kube-controller-manager",
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
			"--controllers=" + strings.Join(controllers, ","),
			"--use-service-account-credentials=true",
			"--service-account-private-key-file=" + l.pki.ServiceAccountKey(), "--root-ca-file=" + l.pki.CAFile(),
			"--leader-elect=false",
			"--bind-address=127.0.0.1", "--secure-port=0", // it listens nowhere
			"--concurrent-gc-syncs=5", "--profiling=false",
		},
		Env: collecting(50),
		// It has no port to ask; this account is its work.
		Ready: process.HTTP(client, "https://"+l.APIServer()+"/api/v1/namespaces/default/serviceaccounts/default"),
	}, nil
}

// collecting has a Go program collect garbage whenever its memory grew by so many percent, which keeps small labs small.
// There is no GOMEMLIMIT beside it: a program whose lab outgrew the limit would do little but collect garbage.
func collecting(percent int) []string { return []string{fmt.Sprintf("GOGC=%d", percent)} }

// StopAPIServer takes the management cluster away until StartAPIServer, and returns when it is gone.
func (l *Lab) StopAPIServer() error { return l.Processes.End(APIServer) }

// StartAPIServer brings the management cluster back, and returns when it answers.
func (l *Lab) StartAPIServer(ctx context.Context) error {
	client, err := rest.HTTPClientFor(l.Config)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	return l.Processes.Start(ctx, l.apiServer(client))
}
