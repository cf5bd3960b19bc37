package lab

import (
	"embed"
	"fmt"
	"io/fs"

	"kubehenge.dev/agent/manifests"
	"kubehenge.dev/api/crds"
	"kubehenge.dev/lab/install"
)

// ownManifest is what Kubehenge itself wants installed: its kinds, and the agent's namespace and account.
func ownManifest() (install.Manifest, error) {
	out := install.Manifest{Name: "kubehenge"}
	for _, files := range []embed.FS{manifests.Files, crds.Files} {
		names, err := fs.Glob(files, "*.yaml")
		if err != nil {
			return install.Manifest{}, err
		}
		for _, name := range names {
			data, err := files.ReadFile(name)
			if err != nil {
				return install.Manifest{}, fmt.Errorf("read %s: %w", name, err)
			}
			manifest, err := install.Parse(name, data)
			if err != nil {
				return install.Manifest{}, err
			}
			out.Objects = append(out.Objects, manifest.Objects...)
		}
	}
	return out, nil
}
