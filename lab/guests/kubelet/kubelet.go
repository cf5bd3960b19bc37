// Package kubelet answers what the kubelet of a simulated machine does to a real API server: it registers its node and
// keeps it Ready, reports the pods that were assigned to it as running without running anything, shows the control
// plane's static pods, and forwards ports to what listens on the machine's address.
package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kubehenge.dev/lab/guests/cluster"
)

// Options set a kubelet up.
type Options struct {
	Node cluster.Node
	// Config reaches the API server as the node's own user, system:node:<name>.
	Config *rest.Config
	// Serving is the certificate of the kubelet's own server, ClientCA signs those of who may ask it.
	Serving  tls.Certificate
	ClientCA *x509.CertPool
	// StaticPods run on the machine without anybody having assigned them.
	StaticPods []StaticPod
	// Renew is the time between two signs of life. Upstream: 10 s.
	Renew time.Duration
	Log   *slog.Logger
}

// Kubelet is the kubelet of one machine that is on.
type Kubelet struct {
	options Options
	client  kubernetes.Interface

	registered chan struct{} // closed when the node is there

	mu    sync.Mutex
	nodes nodeFacts
	pods  podStore
}

// New returns a kubelet that does nothing until Run.
func New(o Options) (*Kubelet, error) {
	config := rest.CopyConfig(o.Config)
	config.QPS = -1 // a machine's kubelet has its own limits; here they would only slow tests down
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the kubelet's client: %w", err)
	}
	return newKubelet(o, client), nil
}

func newKubelet(o Options, client kubernetes.Interface) *Kubelet {
	return &Kubelet{options: o, client: client, registered: make(chan struct{}), pods: podStore{byName: map[string]*tracked{}}}
}

// Registered is closed when the node has been registered.
func (k *Kubelet) Registered() <-chan struct{} { return k.registered }

const (
	// retry is the pause after a call that failed.
	retry = 500 * time.Millisecond
	// patience is how long a call may take. An API server that starts accepts connections well before it answers.
	patience = 5 * time.Second
)

// Run works until ctx ends; it may be called once. An API server that does not answer is waited for.
func (k *Kubelet) Run(ctx context.Context) error {
	stop, err := k.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if !k.keepRegistering(ctx) {
		return nil
	}
	close(k.registered)
	var work sync.WaitGroup
	work.Go(func() { k.renewLease(ctx) })
	work.Go(func() { k.followPods(ctx) })
	work.Wait()
	return nil
}

// keepRegistering says whether the node has been registered before ctx ended.
func (k *Kubelet) keepRegistering(ctx context.Context) bool {
	said := ""
	for {
		err := k.register(ctx)
		if err == nil {
			return true
		}
		if text := err.Error(); text != said && ctx.Err() == nil {
			k.options.Log.Info("node is not registered yet", "node", k.options.Node.Name, "error", text)
			said = text
		}
		if !sleep(ctx, retry) {
			return false
		}
	}
}

// sleep says whether time has passed, and not ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
