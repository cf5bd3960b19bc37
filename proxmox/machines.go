package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Machines are the guests of all nodes. A VM is found by its VMID alone: it may move between nodes at any time.
type Machines interface {
	// List is all guests that the token may see (VM.Audit). Names, status and template flag lag up to ten seconds.
	List(ctx context.Context) ([]Machine, error)
	// Find is one guest of the list; NotFound where it is not in it.
	Find(ctx context.Context, vmid int) (Machine, error)
	// Status is how a VM is right now, asked of its node.
	Status(ctx context.Context, vmid int) (MachineStatus, error)
	// Config is a VM's configuration, pending changes included.
	Config(ctx context.Context, vmid int) (MachineConfig, error)
	// Taken says whether a VMID is any guest's, one that the token may not see included: everybody may ask that.
	Taken(ctx context.Context, vmid int) (bool, error)
	// Templates are the VM templates that carry all the tags. Clones inherit tags, so tags alone do not make a template.
	Templates(ctx context.Context, tags ...string) ([]Machine, error)
}

// Machine is a guest as /cluster/resources shows it.
type Machine struct {
	// Type is qemu or lxc.
	Type string
	// VMID is its number, unique in the cluster.
	VMID int
	// Name is empty while there are no fresh statistics: just after its making, and when its node is down for long.
	Name string
	// Node is where it is now.
	Node string
	// Status is running, stopped and the like; unknown when its node does not report.
	Status string
	// Pool is the pool it is in, where the token may see that pool.
	Pool string
	// Lock names the operation that holds it; empty mostly.
	Lock string
	// Tags are its tags, and TagText how they are written: a tag may be separated by what not everybody takes for a
	// separator.
	Tags    []string
	TagText string
	// Template is true for a VM template.
	Template bool
	// MemoryBytes is the memory it may use, CPUs its processors (a container's share of one counts as one), DiskBytes
	// the size of its boot disk. All are 0 while there are no fresh statistics.
	MemoryBytes int64
	CPUs        int
	DiskBytes   int64
}

// MachineStatus is a VM at this moment.
type MachineStatus struct {
	// VMID and Node say which and where.
	VMID int
	Node string
	// Name is the VM's name.
	Name string
	// Status is running or stopped.
	Status string
	// QMPStatus is QEMU's own word, such as paused or prelaunch.
	QMPStatus string
	// Lock names the operation that holds it.
	Lock string
	// Template is true for a VM template.
	Template bool
	// UptimeSeconds is how long it has run.
	UptimeSeconds int64
}

// MachineConfig is a VM's configuration, by option, as text.
type MachineConfig map[string]string

// Tags are the VM's tags.
func (c MachineConfig) Tags() []string { return splitTags(c["tags"]) }

// UUID is the SMBIOS UUID in lower case, which is also the VM's provider ID; empty where there is none.
func (c MachineConfig) UUID() string {
	for part := range strings.SplitSeq(c["smbios1"], ",") {
		if uuid, found := strings.CutPrefix(part, "uuid="); found {
			return strings.ToLower(uuid)
		}
	}
	return ""
}

// Machines are the guests of all nodes.
func (c *Client) Machines() Machines { return machines{c} }

type machines struct{ client *Client }

func (m machines) List(ctx context.Context) ([]Machine, error) {
	var rows []machineRow
	if err := m.client.get(ctx, "/cluster/resources?type=vm", &rows); err != nil {
		return nil, fmt.Errorf("list guests: %w", err)
	}
	list := make([]Machine, 0, len(rows))
	for _, row := range rows {
		list = append(list, row.machine())
	}
	return list, nil
}

func (m machines) Find(ctx context.Context, vmid int) (Machine, error) {
	list, err := m.List(ctx)
	if err != nil {
		return Machine{}, fmt.Errorf("find VM %d: %w", vmid, err)
	}
	for _, found := range list {
		if found.VMID == vmid {
			return found, nil
		}
	}
	return Machine{}, &Error{Kind: NotFound, Method: "GET", Path: "/cluster/resources", Status: 200,
		Reason: fmt.Sprintf("a list without VM %d: it does not exist, or the token may not see it (VM.Audit)", vmid)}
}

func (m machines) Status(ctx context.Context, vmid int) (MachineStatus, error) {
	var s statusRow
	node, err := m.onNode(ctx, vmid, func(base string) error {
		s = statusRow{}
		return m.client.get(ctx, base+"/status/current", &s)
	})
	if err != nil {
		return MachineStatus{}, fmt.Errorf("read status of VM %d: %w", vmid, err)
	}
	return MachineStatus{VMID: vmid, Node: node, Name: s.Name, Status: s.Status, QMPStatus: s.QMPStatus, Lock: s.Lock,
		Template: bool(s.Template), UptimeSeconds: int64(s.Uptime)}, nil
}

func (m machines) Config(ctx context.Context, vmid int) (MachineConfig, error) {
	var raw map[string]scalar
	_, err := m.onNode(ctx, vmid, func(base string) error {
		raw = nil
		return m.client.get(ctx, base+"/config", &raw)
	})
	if err != nil {
		return nil, fmt.Errorf("read configuration of VM %d: %w", vmid, err)
	}
	config := make(MachineConfig, len(raw))
	for name, value := range raw {
		config[name] = string(value)
	}
	return config, nil
}

func (m machines) Taken(ctx context.Context, vmid int) (bool, error) {
	err := m.client.get(ctx, fmt.Sprintf("/cluster/nextid?vmid=%d", vmid), new(scalar))
	var refused *Error
	if errors.As(err, &refused) && strings.Contains(refused.Fields["vmid"], "already exists") {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask whether VMID %d is taken: %w", vmid, err)
	}
	return false, nil
}

func (m machines) Templates(ctx context.Context, tags ...string) ([]Machine, error) {
	list, err := m.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("find templates with tags %s: %w", strings.Join(tags, ", "), err)
	}
	return TemplatesWith(list, tags...), nil
}

// TemplatesWith are the VM templates of a list that carry all the tags.
func TemplatesWith(list []Machine, tags ...string) []Machine {
	return slices.DeleteFunc(slices.Clone(list), func(m Machine) bool {
		lacks := func(tag string) bool { return !slices.Contains(m.Tags, tag) }
		return !m.Template || slices.ContainsFunc(tags, lacks)
	})
}

// onNode calls with the VM's path on the node where it is. A VM that moved in between is not found there: then it is
// looked up once more.
func (m machines) onNode(ctx context.Context, vmid int, call func(base string) error) (string, error) {
	at, err := m.Find(ctx, vmid)
	if err != nil {
		return "", err
	}
	err = call(at.base())
	if KindOf(err) != NotFound {
		return at.Node, err
	}
	moved, findErr := m.Find(ctx, vmid)
	if findErr != nil || moved.Node == at.Node {
		return at.Node, err
	}
	return moved.Node, call(moved.base())
}

// base is the VM's path on its node.
func (m Machine) base() string {
	return fmt.Sprintf("/nodes/%s/%s/%d", url.PathEscape(m.Node), url.PathEscape(m.Type), m.VMID)
}

type machineRow struct {
	Type     string `json:"type"`
	VMID     whole  `json:"vmid"`
	Name     string `json:"name"`
	Node     string `json:"node"`
	Status   string `json:"status"`
	Pool     string `json:"pool"`
	Lock     string `json:"lock"`
	Tags     string `json:"tags"`
	Template flag   `json:"template"`
	Memory   whole  `json:"maxmem"`
	CPUs     whole  `json:"maxcpu"`
	Disk     whole  `json:"maxdisk"`
}

func (r machineRow) machine() Machine {
	return Machine{Type: r.Type, VMID: int(r.VMID), Name: r.Name, Node: r.Node, Status: r.Status, Pool: r.Pool, Lock: r.Lock,
		Tags: splitTags(r.Tags), TagText: r.Tags, Template: bool(r.Template), MemoryBytes: int64(r.Memory), CPUs: int(r.CPUs), DiskBytes: int64(r.Disk)}
}

type statusRow struct {
	Name      string `json:"name"`
	Status    string `json:"status"`
	QMPStatus string `json:"qmpstatus"`
	Lock      string `json:"lock"`
	Template  flag   `json:"template"`
	Uptime    whole  `json:"uptime"`
}

// splitTags reads a list of tags; Proxmox VE separates them by semicolons, and takes commas and spaces too.
func splitTags(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
}
