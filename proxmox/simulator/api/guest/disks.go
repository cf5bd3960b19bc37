package guest

import (
	"regexp"

	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
)

// NewDisk is a disk that is to be made: STORAGE:GIB.
var NewDisk = regexp.MustCompile(`\A([^/:\s]+):(\d+(\.\d+)?)\z`)

// CloudInitSize is the size of a cloud-init drive.
const CloudInitSize = 4 << 20

// CheckVolume asks for the access to a volume by its ID.
func CheckVolume(c *core.Call, t Target, id string) error {
	name, rest := core.SplitVolume(id)
	st := c.State.Storages[name]
	if st == nil {
		return core.Fail("storage '%s' does not exist", name)
	}
	p, err := st.ParseVolume(rest)
	if err != nil {
		return err
	}
	return storage.MayUse(c, st, p, t.VMID)
}
