// Package bootstrap is what happens before there is a cluster: the repository that a fleet begins with.
package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kubehenge.dev/classes"
	"kubehenge.dev/clusters"
	"kubehenge.dev/render"
)

// Options say what a new repository holds.
type Options struct {
	// Example adds the cluster clusters/examples/hello.
	Example bool
	// Fleet is the content of clusters/fleet.yaml. Default: an example to fill in.
	Fleet []byte
}

// readme is the one file of a new repository that is not also in ours.
const readme = `# Clusters

Kubernetes clusters on Proxmox VE, described in Git and kept as described by Kubehenge.

- clusters/fleet.yaml: the platform's settings.
- clusters/<namespace>/<name>/: one folder a cluster, with a kustomization.yaml and a ClusterClaim. Folders whose name
  starts with _ hold what several clusters share.
- classes/: what clusters are made of. A released class never changes; a new revision is a new folder.

Check a change before it is pushed: kubehenge check --base origin/main
`

// RepositoryFiles are the files of a new repository, by their paths in it.
func RepositoryFiles(o Options) (map[string][]byte, error) {
	files := map[string][]byte{"README.md": []byte(readme)}
	sources := []struct {
		folder string
		files  fs.FS
	}{{render.ClassesFolder, classes.Files}, {render.ClustersFolder, clusters.Files}}
	for _, s := range sources {
		if err := collect(files, s.folder, s.files); err != nil {
			return nil, err
		}
	}
	if !o.Example {
		maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, exampleFolder) })
	}
	if o.Fleet != nil {
		files[render.FleetFile] = o.Fleet
	}
	return files, nil
}

const exampleFolder = render.ClustersFolder + "/examples/"

func collect(into map[string][]byte, folder string, from fs.FS) error {
	err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		into[path.Join(folder, name)] = content
		return err
	})
	if err != nil {
		return fmt.Errorf("read the built-in %s: %w", folder, err)
	}
	return nil
}

// WriteRepository writes a new repository into a folder, which is made where it is not there. It adds missing files to a folder that is such a
// repository already, changes none, and refuses any other folder that is not empty. It runs no git. It gives the paths it wrote, sorted.
func WriteRepository(dir string, o Options) ([]string, error) {
	files, err := RepositoryFiles(o)
	if err != nil {
		return nil, err
	}
	if err := mayWrite(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close()
	var written []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		wrote, err := writeMissing(root, name, files[name])
		if err != nil {
			return written, fmt.Errorf("write %s: %w", name, err)
		}
		if wrote {
			written = append(written, name)
		}
	}
	return written, nil
}

// ErrForeignFolder says that a folder holds something else than a repository of ours.
var ErrForeignFolder = errors.New("the folder is not empty and holds no " + render.FleetFile)

func mayWrite(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into the folder: %w", err)
	}
	// A fresh clone of an empty repository holds .git and no more.
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
	if len(entries) == 0 {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(dir, render.FleetFile)); err != nil {
		return fmt.Errorf("%s: %w", dir, ErrForeignFolder)
	}
	return nil
}

// writeMissing writes a file that is not there.
func writeMissing(root *os.Root, name string, content []byte) (bool, error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(content)
	return err == nil, errors.Join(err, f.Close())
}
