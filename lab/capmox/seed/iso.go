// Package seed makes the NoCloud ISO a new VM boots with: user-data as the bootstrap provider wrote it,
// meta-data and network-config. https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
package seed

import (
	"bytes"
	"fmt"

	"github.com/kdomanski/iso9660"
)

// VolumeLabel is what cloud-init looks for.
const VolumeLabel = "cidata"

// Files are the files of the ISO.
type Files struct {
	UserData, MetaData, NetworkConfig []byte
}

// ISO makes the image.
func ISO(f Files) (_ []byte, err error) {
	w, err := iso9660.NewWriter()
	if err != nil {
		return nil, fmt.Errorf("make a boot ISO: %w", err)
	}
	defer func() {
		if e := w.Cleanup(); err == nil && e != nil {
			err = fmt.Errorf("clean up after a boot ISO: %w", e)
		}
	}()
	for _, file := range []struct {
		name    string
		content []byte
	}{
		{"user-data", f.UserData},
		{"meta-data", f.MetaData},
		{"network-config", f.NetworkConfig},
	} {
		if err := w.AddFile(bytes.NewReader(file.content), file.name); err != nil {
			return nil, fmt.Errorf("add %s to a boot ISO: %w", file.name, err)
		}
	}
	var image bytes.Buffer
	if err := w.WriteTo(&image, VolumeLabel); err != nil {
		return nil, fmt.Errorf("write a boot ISO: %w", err)
	}
	return image.Bytes(), nil
}
