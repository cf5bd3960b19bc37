package real

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"kubehenge.dev/lab/guests/child"
)

// Ports of a machine of the control plane.
const (
	apiServerPort  = 6443
	etcdClientPort = 2379
	etcdPeerPort   = 2380
)

// The control plane's programs, by the names of the binary's subcommands.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// limits keep each program small: GOGC in percent, and the memory in MiB from which it collects garbage harder.
var limits = map[string]struct{ percent, mebibytes int }{
	etcd: {50, 128}, apiServer: {75, 400}, controllerManager: {50, 128}, scheduler: {50, 96},
}

// ours are flags that bootstrap data cannot change here: where programs listen and where they find each other. They are
// the simulation's: real machines have a network of their own.
var ours = map[string]bool{
	"advertise-address": true, "bind-address": true, "secure-port": true, "endpoint-reconciler-type": true, "etcd-servers": true,
	"leader-elect": true, "kubeconfig": true, "authentication-kubeconfig": true, "authorization-kubeconfig": true,
	"name": true, "data-dir": true, "listen-client-url": true, "listen-peer-url": true, "initial-cluster": true, "initial-cluster-state": true,
}

// etcdFlags are those of etcd's own that the binary's subcommand has; others have no effect here.
var etcdFlags = map[string]bool{"heartbeat-interval": true, "election-timeout": true, "snapshot-count": true}

// gates is the flag whose values add up.
const gates = "feature-gates"

func on(address string, port int) string { return net.JoinHostPort(address, strconv.Itoa(port)) }

func (m *member) apiAddress() string  { return on(m.node.Address, apiServerPort) }
func (m *member) etcdAddress() string { return on(m.node.Address, etcdClientPort) }
func (m *member) peerURL() string     { return "https://" + on(m.node.Address, etcdPeerPort) }

// etcdArgs are those of the machine's etcd member. A member that finds data does not look at cluster and state.
func (m *member) etcdArgs(cluster, state string) map[string]string {
	pki := func(name string) string { return m.disk.path(m.spec.CertificatesDir + "/etcd/" + name) }
	return map[string]string{
		"name": m.node.Name, "data-dir": m.disk.path("/var/lib/etcd"),
		"listen-client-url": "https://" + m.etcdAddress(), "listen-peer-url": m.peerURL(),
		"initial-cluster": cluster, "initial-cluster-state": state,
		"cert-file": pki("server.crt"), "key-file": pki("server.key"),
		"peer-cert-file": pki("peer.crt"), "peer-key-file": pki("peer.key"), "trusted-ca-file": pki("ca.crt"),
		// On a machine that is busy with other things for a second the leader must not change. A new member is late by
		// twice the election's time, and 5 s, when the first message of its name is lost.
		"heartbeat-interval": "150", "election-timeout": "1500",
		"snapshot-count": "2000", "snapshot-catchup-entries": "500",
		"unsafe-no-fsync": "true", // power off kills the program, and what it wrote stays
	}
}

// apiServerArgs are kubeadm's (kubernetes, cmd/kubeadm/app/phases/controlplane/manifests.go), and what keeps the program on
// its address.
func (m *member) apiServerArgs() map[string]string {
	pki := func(name string) string { return m.disk.path(m.spec.CertificatesDir + "/" + name) }
	args := map[string]string{
		"advertise-address": m.node.Address, "bind-address": m.node.Address, "secure-port": strconv.Itoa(apiServerPort),
		"endpoint-reconciler-type": "none", // a Service cannot have loopback addresses behind it
		"allow-privileged":         "true", "authorization-mode": "Node,RBAC", "enable-admission-plugins": "NodeRestriction",
		"enable-bootstrap-token-auth": "true", "kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname",
		"client-ca-file": pki("ca.crt"), "tls-cert-file": pki("apiserver.crt"), "tls-private-key-file": pki("apiserver.key"),
		"kubelet-client-certificate": pki("apiserver-kubelet-client.crt"), "kubelet-client-key": pki("apiserver-kubelet-client.key"),
		"etcd-servers": "https://" + m.etcdAddress(), "etcd-cafile": pki("etcd/ca.crt"),
		"etcd-certfile": pki("apiserver-etcd-client.crt"), "etcd-keyfile": pki("apiserver-etcd-client.key"),
		"service-account-key-file": pki("sa.pub"), "service-account-signing-key-file": pki("sa.key"),
		"service-account-issuer":   "https://kubernetes.default.svc." + m.spec.DNSDomain,
		"service-cluster-ip-range": m.spec.ServiceSubnet,
		"profiling":                "false",
		// API servers tell each other apart by their host's name, and these have one host.
		gates: "APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false",
	}
	if _, ok := m.frontProxy(); ok {
		maps.Copy(args, map[string]string{
			"requestheader-client-ca-file": pki("front-proxy-ca.crt"), "requestheader-allowed-names": "front-proxy-client",
			"requestheader-username-headers": "X-Remote-User", "requestheader-group-headers": "X-Remote-Group",
			"requestheader-extra-headers-prefix": "X-Remote-Extra-",
			"proxy-client-cert-file":             pki("front-proxy-client.crt"), "proxy-client-key-file": pki("front-proxy-client.key"),
		})
	}
	return args
}

// controllerManagerArgs are kubeadm's. It listens nowhere.
func (m *member) controllerManagerArgs(grace time.Duration) map[string]string {
	pki := func(name string) string { return m.disk.path(m.spec.CertificatesDir + "/" + name) }
	args := m.controllerArgs("controller-manager.conf")
	maps.Copy(args, map[string]string{
		"cluster-name": m.spec.Name, "client-ca-file": pki("ca.crt"), "root-ca-file": pki("ca.crt"),
		"cluster-signing-cert-file": pki("ca.crt"), "cluster-signing-key-file": pki("ca.key"),
		"service-account-private-key-file": pki("sa.key"), "use-service-account-credentials": "true",
		"controllers":               "*,bootstrap-signer-controller,token-cleaner-controller",
		"node-monitor-grace-period": grace.String(), "node-monitor-period": (grace / 4).String(),
		"profiling":              "false",
		"flex-volume-plugin-dir": m.disk.path("/usr/libexec/kubernetes/kubelet-plugins/volume/exec"),
	})
	if m.spec.PodSubnet != "" {
		maps.Copy(args, map[string]string{
			"allocate-node-cidrs": "true", "cluster-cidr": m.spec.PodSubnet, "service-cluster-ip-range": m.spec.ServiceSubnet,
		})
	}
	return args
}

// controllerArgs are common to programs that work through the API server alone.
func (m *member) controllerArgs(file string) map[string]string {
	kubeconfig := m.disk.path(kubernetesDir + "/" + file)
	return map[string]string{
		"kubeconfig": kubeconfig, "authentication-kubeconfig": kubeconfig, "authorization-kubeconfig": kubeconfig,
		"bind-address": "127.0.0.1", "secure-port": "0", "leader-elect": "false", // there is one, with the endpoint
	}
}

// program is one of the control plane's, with the flags of the bootstrap data in place of kubeadm's own.
func (m *member) program(name string, args map[string]string) child.Program {
	for flag, value := range m.spec.ExtraArgs[name] {
		switch {
		case ours[flag] || name == etcd && !etcdFlags[flag]:
		case flag == gates && args[gates] != "":
			args[gates] += "," + value
		default:
			args[flag] = m.disk.inside(value)
		}
	}
	line := []string{name}
	for _, flag := range slices.Sorted(maps.Keys(args)) {
		line = append(line, "--"+flag+"="+args[flag])
	}
	limit := limits[name]
	return child.Program{
		Name: name + " of node " + m.node.Name, Path: m.cluster.registry.options.Program, Args: line,
		Env: []string{fmt.Sprintf("GOGC=%d", limit.percent), fmt.Sprintf("GOMEMLIMIT=%dMiB", limit.mebibytes)},
		Log: m.logFile(name),
	}
}
