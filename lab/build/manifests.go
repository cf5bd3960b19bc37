package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// render makes a provider's manifests from the kustomization in its module, as upstream's release does.
func (b *builder) render(p Provider) func(context.Context, string) error {
	return func(ctx context.Context, path string) error {
		dir, err := b.moduleDir(ctx, p)
		if err != nil {
			return err
		}
		resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
			Run(filesys.MakeFsOnDisk(), filepath.Join(dir, p.Config))
		if err != nil {
			return fmt.Errorf("kustomize %s of %s: %w", p.Config, p.Path, err)
		}
		data, err := resources.AsYaml()
		if err != nil {
			return fmt.Errorf("write the manifests of %s as YAML: %w", p.Path, err)
		}
		return os.WriteFile(path, data, 0o644)
	}
}

// moduleDir is where the pinned version of a provider's module is in the module cache.
func (b *builder) moduleDir(ctx context.Context, p Provider) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", p.Path)
	cmd.Dir = filepath.Join(b.root, p.Module)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", p.Path, withStderr(err))
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return "", fmt.Errorf("module %s is not in the module cache; go mod download in %s brings it", p.Path, p.Module)
	}
	return dir, nil
}
