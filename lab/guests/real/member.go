package real

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"kubehenge.dev/lab/guests/child"
	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubelet"
)

// member is a machine that is part of a cluster, with what runs in it.
type member struct {
	cluster *Cluster
	node    cluster.Node
	spec    cluster.Spec // the cluster as the machine's bootstrap data has it; empty for workers
	disk    disk

	mu          sync.Mutex
	programs    map[string]*child.Child // those that run while the machine is on, by name
	controllers []*child.Child          // those that run while it has the endpoint
	kubelet     *runningKubelet
	serves      bool // its API server may get the endpoint
}

// runningKubelet is a kubelet with what ends it.
type runningKubelet struct {
	*kubelet.Kubelet
	stop context.CancelFunc
	done chan struct{}
	err  error // once done is closed
}

func (c *Cluster) newMember(s cluster.Spec, n cluster.Node) (*member, error) {
	if ip := net.ParseIP(n.Address); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("node %s: address %q: %w", n.Name, n.Address, cluster.ErrNotLoopback)
	}
	d, err := c.registry.newDisk(n)
	if err != nil {
		return nil, err
	}
	return &member{cluster: c, node: n, spec: s, disk: d, programs: map[string]*child.Child{}}, nil
}

// host is the endpoint without its port.
func (c *Cluster) host() string {
	host, _, _ := net.SplitHostPort(c.spec.Endpoint)
	return host
}

// logFile is where a program's output goes; it outlives the machine.
func (m *member) logFile(program string) string {
	return filepath.Join(m.cluster.registry.options.Dir, "logs", m.node.Name+"."+program+".log")
}

// prepare makes what kubeadm puts on the disk of a machine of the control plane.
func (m *member) prepare() error {
	if err := m.makeCertificates(); err != nil {
		return err
	}
	endpoint := m.cluster.spec.Endpoint
	for _, k := range []struct{ file, server, user, group string }{
		{"admin.conf", endpoint, "kubernetes-admin", admins},
		{"super-admin.conf", endpoint, "kubernetes-super-admin", masters},
		{"controller-manager.conf", m.apiAddress(), "system:kube-controller-manager", ""},
		{"scheduler.conf", m.apiAddress(), "system:kube-scheduler", ""},
	} {
		config, err := m.cluster.user(k.server, k.user, k.group)
		if err != nil {
			return err
		}
		if err := m.kubeconfig(kubernetesDir+"/"+k.file, config); err != nil {
			return fmt.Errorf("write %s: %w", k.file, err)
		}
	}
	return nil
}

// run keeps one of the machine's programs running.
func (m *member) run(name string, args map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.programs[name] = child.Start(m.program(name, args))
}

// running says whether a program of the machine runs.
func (m *member) running(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.programs[name]
	return p != nil && p.Running()
}

// failed returns the error of a program that does not stay up.
func (m *member) failed(name string) error {
	m.mu.Lock()
	p := m.programs[name]
	m.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Failed(3)
}

func (m *member) setServes(serves bool) {
	m.mu.Lock()
	m.serves = serves
	m.mu.Unlock()
	m.cluster.nudge()
}

func (m *member) mayServe() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.serves
}

// startControllers runs the cluster's controllers on this machine; false when it is off.
func (m *member) startControllers() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.serves {
		return false
	}
	if m.controllers == nil {
		m.controllers = []*child.Child{
			child.Start(m.program(controllerManager, m.controllerManagerArgs(m.cluster.registry.options.NodeGrace))),
			child.Start(m.program(scheduler, m.controllerArgs("scheduler.conf"))),
		}
	}
	return true
}

func (m *member) stopControllers() {
	m.mu.Lock()
	list := m.controllers
	m.controllers = nil
	m.mu.Unlock()
	for _, c := range list {
		c.Stop()
	}
}

// powerOff kills all that runs on the machine and returns when it is gone.
func (m *member) powerOff() {
	m.mu.Lock()
	m.serves = false
	programs, kubelet := m.programs, m.kubelet
	m.programs, m.kubelet = map[string]*child.Child{}, nil
	m.mu.Unlock()
	var work sync.WaitGroup
	work.Go(m.stopControllers)
	for _, p := range programs {
		work.Go(p.Stop)
	}
	if kubelet != nil {
		kubelet.stop()
		<-kubelet.done
	}
	work.Wait()
}

// destroy switches the machine off and removes its disk.
func (m *member) destroy() {
	m.powerOff()
	if err := m.disk.remove(); err != nil {
		m.cluster.registry.options.Log.Warn("disk stays", "node", m.node.Name, "error", err)
	}
}

// startKubelet starts the machine's kubelet, which then waits for the API server by itself.
func (m *member) startKubelet() error {
	k, err := m.newKubelet()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &runningKubelet{Kubelet: k, stop: stop, done: make(chan struct{})}
	m.mu.Lock()
	m.kubelet = r
	m.mu.Unlock()
	go func() {
		defer close(r.done)
		if r.err = k.Run(ctx); r.err != nil {
			m.cluster.registry.options.Log.Error("kubelet has ended", "node", m.node.Name, "error", r.err)
		}
	}()
	return nil
}

func (m *member) newKubelet() (*kubelet.Kubelet, error) {
	// kubeadm's kubelets of the control plane talk to their own machine's API server since Kubernetes 1.36.
	server := m.cluster.spec.Endpoint
	if m.node.ControlPlane {
		server = m.apiAddress()
	}
	config, err := m.cluster.user(server, "system:node:"+m.node.Name, "system:nodes")
	if err != nil {
		return nil, err
	}
	certificate, key, err := leaf{
		ca: m.cluster.spec.CA, name: "system:node:" + m.node.Name, group: "system:nodes", hosts: []string{m.node.Name, m.node.Address}, serves: true,
	}.issue(time.Now())
	if err != nil {
		return nil, err
	}
	serving, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	clients.AddCert(m.cluster.spec.CA.Certificate)
	return kubelet.New(kubelet.Options{
		Node: m.node, Config: config, Serving: serving, ClientCA: clients, StaticPods: m.staticPods(),
		Renew: m.cluster.registry.options.NodeGrace / 4, Log: m.cluster.registry.options.Log,
	})
}

// awaitNode waits until the kubelet has registered the node.
func (m *member) awaitNode(ctx context.Context) error {
	m.mu.Lock()
	k := m.kubelet
	m.mu.Unlock()
	if k == nil {
		return fmt.Errorf("node %s is off", m.node.Name)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-k.Registered():
		return nil
	case <-k.done:
		return k.err
	}
}

// admin is the configuration of who may do everything, through the API server at an address.
func (c *Cluster) admin(server string) (*rest.Config, error) {
	return c.user(server, "kubernetes-super-admin", masters)
}
