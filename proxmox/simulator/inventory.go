package simulator

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
)

// Inventory describes a Proxmox VE: what the simulator starts with, and what it can be saved as.
type Inventory struct {
	Cluster  string            `json:"cluster,omitempty"` // name; empty: a single node that is in no cluster
	Options  map[string]string `json:"options,omitempty"` // datacenter options, e.g. next-id: lower=200
	Nodes    []NodeSpec        `json:"nodes"`             // the first answers the API
	Storages []StorageSpec     `json:"storages,omitempty"`
	Zones    []ZoneSpec        `json:"zones,omitempty"` // SDN zones with their VNets
	Realms   []RealmSpec       `json:"realms,omitempty"`
	Users    []UserSpec        `json:"users,omitempty"`
	Groups   []GroupSpec       `json:"groups,omitempty"`
	Roles    []RoleSpec        `json:"roles,omitempty"`
	ACLs     []ACLSpec         `json:"acls,omitempty"`
	Pools    []PoolSpec        `json:"pools,omitempty"`
	Guests   []GuestSpec       `json:"guests,omitempty"`
	Volumes  []VolumeSpec      `json:"volumes,omitempty"` // beside the disks that guests name
	HA       HASpec            `json:"ha,omitzero"`
	// Replications are jobs that copy local disks to other nodes.
	Replications []ReplicationSpec `json:"replications,omitempty"`
	// Firewalls by where they are: cluster, node/NAME, vnet/NAME or the ID of a guest.
	Firewalls map[string]FirewallSpec `json:"firewalls,omitempty"`
	// Kubehenge, if given, adds the roles and ACL entries of Kubehenge's own users for this place.
	Kubehenge *PlaceSpec `json:"kubehenge,omitempty"`
}

// NodeSpec is a node.
type NodeSpec struct {
	Name      string   `json:"name"`
	Address   string   `json:"address,omitempty"`
	CPUs      int      `json:"cpus,omitempty"`      // default 16
	MemoryMiB int      `json:"memoryMiB,omitempty"` // MiB, default 65536
	Bridges   []string `json:"bridges,omitempty"`   // default vmbr0
	Offline   bool     `json:"offline,omitempty"`
}

// StorageSpec is a storage.
type StorageSpec struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"` // dir, nfs, lvmthin, zfspool, rbd, ...
	Content  string            `json:"content"`
	Shared   bool              `json:"shared,omitempty"`
	Nodes    []string          `json:"nodes,omitempty"` // default: all
	Disabled bool              `json:"disabled,omitempty"`
	SizeGiB  int               `json:"sizeGiB,omitempty"` // GiB, default 1000
	Options  map[string]string `json:"options,omitempty"` // path, pool, thinpool, ... as in its configuration
}

// ZoneSpec is an SDN zone.
type ZoneSpec struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Nodes []string `json:"nodes,omitempty"`
	VNets []string `json:"vnets,omitempty"`
	// Options of the zone, and of its VNets by their names: bridge, tag, ...
	Options     map[string]string            `json:"options,omitempty"`
	VNetOptions map[string]map[string]string `json:"vnetOptions,omitempty"`
	// Subnets by their IDs, such as zone-10.0.0.0-24, with their options; vnet is one of them.
	Subnets map[string]map[string]string `json:"subnets,omitempty"`
}

// RealmSpec is an authentication realm. pam and pve are always there; name them to give them options, such as the second
// factor that a realm demands (tfa: type=oath).
type RealmSpec struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	Comment string            `json:"comment,omitempty"`
	Default bool              `json:"default,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	// Directory is what the server behind a realm of type ldap or ad holds.
	Directory *Directory `json:"directory,omitempty"`
}

// Directory is what stands in the LDAP or Active Directory server behind a realm.
type Directory = core.Directory

// DirectoryUser is a user in a Directory.
type DirectoryUser = core.DirectoryUser

// UserSpec is a user with its tokens.
type UserSpec struct {
	ID       string      `json:"id"`
	Password string      `json:"password,omitempty"`
	Email    string      `json:"email,omitempty"`
	Comment  string      `json:"comment,omitempty"`
	Disabled bool        `json:"disabled,omitempty"`
	Expire   int64       `json:"expire,omitempty"` // seconds since 1970, 0: never
	Tokens   []TokenSpec `json:"tokens,omitempty"`
	TFA      *TFASpec    `json:"tfa,omitempty"`
}

// TFASpec are a user's second factors; of several codes or keys only the first is saved.
type TFASpec struct {
	TOTP     string   `json:"totp,omitempty"`     // base32 secret
	Recovery []string `json:"recovery,omitempty"` // keys, each good once
	Yubico   string   `json:"yubico,omitempty"`   // public part of a key: one-time passwords begin with it; counts in realms with tfa type=yubico
}

// TokenSpec is an API token of a user.
type TokenSpec struct {
	ID      string `json:"id"`     // the part after the "!"
	Secret  string `json:"secret"` // a UUID
	Full    bool   `json:"full,omitempty"`
	Expire  int64  `json:"expire,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// GroupSpec is a group of users.
type GroupSpec struct {
	ID      string   `json:"id"`
	Comment string   `json:"comment,omitempty"`
	Users   []string `json:"users,omitempty"`
}

// RoleSpec is a role beside the built-in ones.
type RoleSpec struct {
	ID         string   `json:"id"`
	Privileges []string `json:"privileges,omitempty"`
}

// ACLSpec gives a role on a path to users, groups and tokens.
type ACLSpec struct {
	Path        string   `json:"path"`
	Roles       []string `json:"roles"`
	Users       []string `json:"users,omitempty"`
	Groups      []string `json:"groups,omitempty"`
	Tokens      []string `json:"tokens,omitempty"`
	NoPropagate bool     `json:"noPropagate,omitempty"`
}

// PoolSpec is a resource pool; its guests name it.
type PoolSpec struct {
	ID       string   `json:"id"`
	Comment  string   `json:"comment,omitempty"`
	Storages []string `json:"storages,omitempty"`
}

// GuestSpec is a virtual machine or a container.
type GuestSpec struct {
	VMID    int               `json:"vmid"`
	Type    string            `json:"type,omitempty"` // qemu (default) or lxc
	Node    string            `json:"node"`
	Pool    string            `json:"pool,omitempty"`
	Running bool              `json:"running,omitempty"`
	Config  map[string]string `json:"config"` // as in its configuration file; smbios1 and MACs are added
}

// VolumeSpec is a volume that no guest names.
type VolumeSpec struct {
	ID   string `json:"id"`
	Node string `json:"node,omitempty"` // on a storage that is not shared
	Size int64  `json:"size,omitempty"` // bytes
}

//go:embed inventories/*.yaml
var inventories embed.FS

// Inventories are the names of the ready inventories.
func Inventories() []string {
	entries, _ := fs.ReadDir(inventories, "inventories")
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// LoadInventory reads a ready inventory by its name (see Inventories), else the file of this name.
func LoadInventory(name string) (*Inventory, error) {
	data, err := inventories.ReadFile("inventories/" + name + ".yaml")
	if err != nil {
		if data, err = os.ReadFile(name); err != nil {
			return nil, fmt.Errorf("inventory %q is neither a file nor one of %s: %w", name, strings.Join(Inventories(), ", "), err)
		}
	}
	inv, err := ParseInventory(data)
	if err != nil {
		return nil, fmt.Errorf("inventory %q: %w", name, err)
	}
	return inv, nil
}

// ParseInventory decodes an inventory from YAML; unknown fields are errors.
func ParseInventory(data []byte) (*Inventory, error) {
	inv := &Inventory{}
	if err := yaml.UnmarshalStrict(data, inv); err != nil {
		return nil, fmt.Errorf("parse inventory: %w", err)
	}
	if len(inv.Nodes) == 0 {
		return nil, fmt.Errorf("parse inventory: no nodes")
	}
	return inv, nil
}

// YAML encodes the inventory so that ParseInventory reads it again.
func (i *Inventory) YAML() ([]byte, error) {
	return yaml.Marshal(i)
}

// ReplicationSpec is a replication job.
type ReplicationSpec struct {
	ID      string            `json:"id"` // 100-0: of VM 100
	Target  string            `json:"target"`
	Options map[string]string `json:"options,omitempty"` // schedule, rate, comment, disable
}

// PlaceSpec is where Kubehenge lives; see access.Place.
type PlaceSpec struct {
	WorkloadPool string   `json:"workloadPool"`
	TemplatePool string   `json:"templatePool"`
	Disks        []string `json:"disks"`
	ISO          string   `json:"iso"`
	Bridges      []string `json:"bridges"` // below /sdn/zones
	HA           bool     `json:"ha,omitempty"`
}

// FirewallSpec describes a firewall.
type FirewallSpec = firewall.Spec

// HASpec is what the HA manager looks after.
type HASpec struct {
	Resources []HAResourceSpec `json:"resources,omitempty"`
	Rules     []HARuleSpec     `json:"rules,omitempty"`
	// Groups of 8.4, each with its options nodes ("pve1:2,pve2"), restricted, nofailback and comment.
	Groups      map[string]map[string]string `json:"groups,omitempty"`
	Maintenance []string                     `json:"maintenance,omitempty"` // nodes that run no services for now
	// Used tells that the HA manager ran before: only then does it know the nodes.
	Used bool `json:"used,omitempty"`
}

// HAResourceSpec is an HA resource.
type HAResourceSpec struct {
	ID      string            `json:"id"`              // vm:100
	State   string            `json:"state,omitempty"` // default started
	Options map[string]string `json:"options,omitempty"`
}

// HARuleSpec is an HA rule.
type HARuleSpec struct {
	ID        string   `json:"id"`
	Type      string   `json:"type"` // node-affinity or resource-affinity
	Resources []string `json:"resources"`
	Nodes     string   `json:"nodes,omitempty"` // pve1:2,pve2
	Strict    bool     `json:"strict,omitempty"`
	Affinity  string   `json:"affinity,omitempty"` // positive or negative
	Disabled  bool     `json:"disabled,omitempty"`
	Comment   string   `json:"comment,omitempty"`
}
