package lab

import (
	"fmt"
	"net"
	"strconv"
)

// Addresses are those of one lab: 127.<index>.0.0/16.
type Addresses struct{ index int }

// The ports on Addresses.Services.
const (
	apiServerPort  = 6443
	etcdClientPort = 2379
	etcdPeerPort   = 2380
	proxmoxPort    = 8006
	gitPort        = 8443
	firstHealth    = 9450 // apart from 9443, which the real capmox takes on all interfaces
)

// webhookPorts is how many webhook ports a lab may use. Controller managers listen with them on all interfaces and
// have no flag to change that, so they must differ from lab to lab.
const webhookPorts = 20

func (a Addresses) ip(third, fourth int) string {
	return fmt.Sprintf("127.%d.%d.%d", a.index, third, fourth)
}

// Services is the address that all of the lab's servers listen on.
func (a Addresses) Services() string { return a.ip(0, 1) }

func (a Addresses) on(port int) string { return net.JoinHostPort(a.Services(), strconv.Itoa(port)) }

// APIServer is where the management cluster is, as host:port.
func (a Addresses) APIServer() string { return a.on(apiServerPort) }

// Git is where the repository is served, as host:port.
func (a Addresses) Git() string { return a.on(gitPort) }

// Proxmox is where the simulated Proxmox VE is, as host:port.
func (a Addresses) Proxmox() string { return a.on(proxmoxPort) }

// health is where the i-th controller manager says that it is well.
func (a Addresses) health(i int) string { return a.on(firstHealth + i) }

// webhook is the i-th controller manager's webhook port.
func (a Addresses) webhook(i int) int { return 20000 + a.index*webhookPorts + i }

// Endpoint is the i-th address for control-plane endpoints of the network lan, from 0.
func (a Addresses) Endpoint(i int) string { return a.ip(40, 10+i) }

// Subnet is the range of the network lan.
func (a Addresses) Subnet() string { return a.ip(40, 0) + "/22" }

// Gateway is the gateway of the network lan, which nobody is.
func (a Addresses) Gateway() string { return a.ip(40, 1) }

// Endpoints are the addresses of control planes in the network lan, as the Fleet writes them.
func (a Addresses) Endpoints() string { return a.ip(40, 10) + "-" + a.ip(40, 250) }

// Nodes are the addresses of nodes in the network lan, as the Fleet writes them.
func (a Addresses) Nodes() string { return a.ip(41, 1) + "-" + a.ip(43, 250) }
