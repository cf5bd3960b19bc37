package simulator

import "kubehenge.dev/proxmox/simulator/schema"

// withUUID puts a new UUID into an smbios1 option.
func withUUID(smbios string) string {
	pairs, err := schema.Format("smbios1").ParseProperties("smbios1", smbios)
	if err != nil {
		pairs = &schema.Pairs{}
	}
	pairs.Set("uuid", newUUID())
	return schema.Format("smbios1").Print(pairs)
}
