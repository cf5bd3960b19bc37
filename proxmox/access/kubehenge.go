package access

import (
	"slices"
	"strings"
)

// The users and tokens that Kubehenge runs as.
const (
	ProviderUser  = "kubehenge-provider@pve"
	ProviderToken = "kubehenge-provider@pve!capmox"
	AgentUser     = "kubehenge-agent@pve"
	AgentToken    = "kubehenge-agent@pve!agent"
)

// Place is where on the Proxmox VE side Kubehenge lives: what the paths of its ACL entries are made of.
type Place struct {
	WorkloadPool string   // pool above the pools of all clusters
	TemplatePool string   // pool of the VM templates
	Disks        []string // storages of the machines' disks
	ISO          string   // storage of the bootstrap ISOs, which holds nothing else
	Bridges      []string // SDN path below /sdn/zones: "localnetwork/vmbr0", "localnetwork/vmbr0/40" for one VLAN, "zone/vnet"
}

// Need is one privilege on one path, and the call that asks for it.
type Need struct {
	Privilege string
	Why       string
}

// Grant is a role of Kubehenge's and the paths on which its user and its token both hold it (tokens have privilege
// separation: what a token may do is what both may). There is one role a path, since a role's privileges count
// wherever it is given: Datastore.Allocate on the disks' storage would let the provider delete any disk there.
type Grant struct {
	Role      string
	User      string
	Token     string
	Paths     func(Place) []string
	Propagate bool
	Needs     []Need
}

// Privileges of the grant's role, sorted.
func (g Grant) Privileges(v Version) []string {
	var list []string
	for _, n := range g.Needs {
		privilege := n.Privilege
		if v == V8 && strings.HasPrefix(privilege, "VM.GuestAgent.") {
			privilege = "VM.Monitor"
		}
		if !slices.Contains(list, privilege) {
			list = append(list, privilege)
		}
	}
	return sorted(list)
}

// Grants is the whole table. Each line was found by taking the privilege away and repeating the calls: with exactly
// these the provider creates and deletes a machine, and no more.
var Grants = []Grant{
	{
		Role: "KubehengeProvider", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return []string{"/pool/" + p.WorkloadPool} },
		Needs: []Need{
			{"VM.Allocate", "clone into the cluster's pool, delete"},
			{"VM.Audit", "read status and config, list machines"},
			{"VM.Config.CPU", "config: cores, sockets"},
			{"VM.Config.Memory", "config: memory"},
			{"VM.Config.Network", "config: net0"},
			{"VM.Config.Disk", "resize; config: boot"},
			{"VM.Config.Options", "config: tags, description"},
			{"VM.Config.CDROM", "config: ide0, the bootstrap ISO"},
			{"VM.PowerMgmt", "start, stop"},
			{"VM.GuestAgent.Unrestricted", "agent: exec, exec-status, get-osinfo"},
		},
	},
	{
		Role: "KubehengeProviderTemplates", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return []string{"/pool/" + p.TemplatePool} },
		Needs: []Need{{"VM.Audit", "find and read the template"}, {"VM.Clone", "clone it"}},
	},
	{
		Role: "KubehengeProviderDisks", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return below("/storage/", p.Disks) },
		Needs: []Need{{"Datastore.AllocateSpace", "clone, resize"}},
	},
	{
		Role: "KubehengeProviderISO", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return []string{"/storage/" + p.ISO} },
		Needs: []Need{
			{"Datastore.Audit", "find the storage among those of the node"},
			{"Datastore.AllocateTemplate", "upload the ISO"},
			{"Datastore.Allocate", "delete the ISO"},
		},
	},
	{
		Role: "KubehengeProviderNodes", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(Place) []string { return []string{"/nodes"} },
		Needs: []Need{{"Sys.Audit", "status of the node, read before every call on a machine"}},
	},
	{
		Role: "KubehengeProviderNetwork", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return below("/sdn/zones/", p.Bridges) },
		Needs: []Need{{"SDN.Use", "config: net0 on the bridge; clone, if the template has a card there"}},
	},
	{
		Role: "KubehengeAgent", User: AgentUser, Token: AgentToken, Propagate: true,
		Paths: func(p Place) []string { return []string{"/pool/" + p.WorkloadPool} },
		Needs: []Need{
			{"Pool.Allocate", "create and delete the pools of clusters, write their comments"},
			{"Pool.Audit", "list them with their comments"},
			{"VM.Audit", "see which machines are there, in bulk"},
		},
	},
	{
		Role: "KubehengeAgentTemplates", User: AgentUser, Token: AgentToken, Propagate: true,
		Paths: func(p Place) []string { return []string{"/pool/" + p.TemplatePool} },
		Needs: []Need{{"VM.Audit", "see which templates there are"}},
	},
	{
		Role: "KubehengeAgentStorage", User: AgentUser, Token: AgentToken, Propagate: true,
		Paths: func(p Place) []string { return below("/storage/", append(slices.Clone(p.Disks), p.ISO)) },
		Needs: []Need{{"Datastore.Audit", "space left, bootstrap ISOs left behind"}},
	},
	{
		Role: "KubehengeAgentNodes", User: AgentUser, Token: AgentToken, Propagate: true,
		Paths: func(Place) []string { return []string{"/nodes"} },
		Needs: []Need{{"Sys.Audit", "memory and load of nodes"}},
	},
	{
		Role: "KubehengeAgentCluster", User: AgentUser, Token: AgentToken, Propagate: false,
		Paths: func(Place) []string { return []string{"/"} },
		Needs: []Need{{"Sys.Audit", "which nodes are online, whether the cluster is quorate, HA resources"}},
	},
}

func below(prefix string, names []string) []string {
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = prefix + n
	}
	return paths
}
