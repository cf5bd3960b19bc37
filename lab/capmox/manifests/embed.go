// Package manifests holds what has to be in a cluster before the stand-in for capmox can run: its CRDs, generated
// from lab/capmox/api, and in capmox.yaml the namespace, RBAC and webhooks, named and shaped as capmox's own
// config/default has them, so that an installer treats the two alike.
package manifests

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed capmox.yaml crds/*.yaml
var files embed.FS

// YAML returns all manifests as one stream of YAML documents, CRDs first.
func YAML() ([]byte, error) {
	var all strings.Builder
	for _, pattern := range []string{"crds/*.yaml", "capmox.yaml"} {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", pattern, err)
		}
		for _, name := range names {
			content, err := files.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			all.WriteString("---\n")
			all.Write(content)
		}
	}
	return []byte(all.String()), nil
}
