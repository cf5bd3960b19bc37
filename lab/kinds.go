package lab

import (
	"fmt"
	"io/fs"

	"kubehenge.dev/api/crds"
	"kubehenge.dev/lab/install"
)

// ownNamespace is where class objects go.
const ownNamespace = `
apiVersion: v1
kind: Namespace
metadata:
  name: kubehenge-system
`

// crdManifest is what Kubehenge itself wants installed: its namespace and its kinds.
func crdManifest() (install.Manifest, error) {
	out, err := install.Parse("kubehenge", []byte(ownNamespace))
	if err != nil {
		return install.Manifest{}, err
	}
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		return install.Manifest{}, err
	}
	for _, name := range files {
		data, err := crds.Files.ReadFile(name)
		if err != nil {
			return install.Manifest{}, fmt.Errorf("read %s: %w", name, err)
		}
		manifest, err := install.Parse(name, data)
		if err != nil {
			return install.Manifest{}, err
		}
		out.Objects = append(out.Objects, manifest.Objects...)
	}
	return out, nil
}
