package simulator

import "time"

// Snapshot is what exists at one moment, for audits by tests.
type Snapshot struct {
	VMs     []VM     // by VMID, templates included
	CTs     []VM     // containers, by VMID; their name is their host name
	Volumes []Volume // all storages, by ID
	Pools   []Pool   // by ID
	Tasks   []Task   // oldest first
}

// VM is a virtual machine of a Snapshot.
type VM struct {
	VMID     int
	Name     string
	Node     string
	Pool     string
	Tags     []string
	Status   string // running or stopped
	Lock     string
	Template bool
	Config   map[string]string // as stored; pending changes are not in it
}

// Volume is a volume of a Snapshot.
type Volume struct {
	ID      string // storage:name
	Storage string
	Node    string // empty on a shared storage
	Content string // images, iso, ...
	VMID    int    // owner of a disk image, 0 without one
	Size    int64  // bytes
	Data    []byte // what was uploaded, nil for disks
}

// Pool is a resource pool of a Snapshot.
type Pool struct {
	ID, Comment string
	VMs         []int
	Storages    []string
}

// Task is a task of a Snapshot.
type Task struct {
	UPID, Node, Type, ID, User string
	Started, Ended             time.Time // Ended is zero while it runs
	ExitStatus                 string    // empty while it runs
}

// ISOs returns the volumes with content iso.
func (s Snapshot) ISOs() []Volume {
	var isos []Volume
	for _, v := range s.Volumes {
		if v.Content == "iso" {
			isos = append(isos, v)
		}
	}
	return isos
}

// VM returns the machine with this ID, nil if there is none.
func (s Snapshot) VM(vmid int) *VM {
	for i := range s.VMs {
		if s.VMs[i].VMID == vmid {
			return &s.VMs[i]
		}
	}
	return nil
}

// Call is one call to the API as the simulator answered it.
type Call struct {
	At     time.Time
	User   string // user or token ID, empty if not signed in
	Method string
	Path   string         // below /api2/json, decoded, without query
	Params map[string]any // of query and body; an upload's file under "filename" is its name
	Status int
	Reason string
	Data   any // what was answered below "data", if it is small
}
