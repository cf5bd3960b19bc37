package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// prebuilt finds all binaries and manifests in a folder made by Export.
func prebuilt(dir string, without []string) (Result, error) {
	result := Result{Binaries: map[string]string{}, Manifests: map[string]string{}}
	find := func(paths map[string]string, name, file string) error {
		path := filepath.Join(dir, file)
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("find the prebuilt %s: %w", name, err)
		}
		paths[name] = path
		return nil
	}
	for _, binary := range binaries {
		if slices.Contains(without, binary.Name) {
			continue
		}
		if err := find(result.Binaries, binary.Name, binary.Name); err != nil {
			return Result{}, err
		}
	}
	for _, provider := range providers {
		if err := find(result.Manifests, provider.Name, provider.Name+".yaml"); err != nil {
			return Result{}, err
		}
	}
	return result, nil
}

// Export builds everything and copies it to a folder that can be named as Options.Prebuilt elsewhere.
func Export(ctx context.Context, options Options, dir string) error {
	result, err := Ensure(ctx, options)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the output folder: %w", err)
	}
	for name, path := range result.Binaries {
		if err := copyFile(path, filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	for name, path := range result.Manifests {
		if err := copyFile(path, filepath.Join(dir, name+".yaml"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return out.Close()
}
