package simulator

import "regexp"

// newDisk is a disk that is to be made: STORAGE:GIB.
var newDisk = regexp.MustCompile(`\A([^/:\s]+):(\d+(\.\d+)?)\z`)

// cloudInitSize is the size of a cloud-init drive.
const cloudInitSize = 4 << 20

// checkVolume asks for the access to a volume by its ID.
func (c *call) checkVolume(t target, id string) error {
	name, rest := splitVolume(id)
	st := c.s.storages[name]
	if st == nil {
		return fail("storage '%s' does not exist", name)
	}
	p, err := st.parseVolume(rest)
	if err != nil {
		return err
	}
	return c.mayUse(st, p, t.vmid)
}
