package guest

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// WithUUID puts a new UUID into an smbios1 option.
func WithUUID(smbios string) string {
	pairs, err := schema.Format("smbios1").ParseProperties("smbios1", smbios)
	if err != nil {
		pairs = &schema.Pairs{}
	}
	pairs.Set("uuid", core.NewUUID())
	return schema.Format("smbios1").Print(pairs)
}
