package bootstrapdata

import (
	"bytes"
	"fmt"

	"github.com/kdomanski/iso9660"
)

// Medium is what the Proxmox VE provider puts on a machine's medium.
type Medium struct {
	UserData []byte
	UUID     string // instance-id
	Hostname string
	MAC      string
	Address  string // with its prefix: 127.10.41.1/22
}

// ISO is the medium's image.
func (m Medium) ISO() ([]byte, error) {
	meta := fmt.Sprintf("instance-id: %s\nlocal-hostname: %s\nhostname: %s\n", m.UUID, m.Hostname, m.Hostname)
	network := fmt.Sprintf(`network:
  version: 2
  renderer: networkd
  ethernets:
    eth0:
      match:
        macaddress: %s
      dhcp4: false
      dhcp6: false
      addresses:
        - '%s'
      routes:
        - { "to": "0.0.0.0/0", "via": "127.10.40.1", }
      nameservers:
        addresses:
          - '127.10.40.1'
`, m.MAC, m.Address)
	return ISO("cidata", map[string]string{"user-data": string(m.UserData), "meta-data": meta, "network-config": network})
}

// ISO makes an image with a label and some files.
func ISO(label string, files map[string]string) ([]byte, error) {
	writer, err := iso9660.NewWriter()
	if err != nil {
		return nil, fmt.Errorf("make ISO image: %w", err)
	}
	defer writer.Cleanup() //nolint:errcheck // a temporary folder
	for name, content := range files {
		if err := writer.AddFile(bytes.NewReader([]byte(content)), name); err != nil {
			return nil, fmt.Errorf("make ISO image: %w", err)
		}
	}
	var image bytes.Buffer
	if err := writer.WriteTo(&image, label); err != nil {
		return nil, fmt.Errorf("make ISO image: %w", err)
	}
	return image.Bytes(), nil
}
