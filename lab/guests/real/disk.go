package real

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"kubehenge.dev/lab/guests/cluster"
)

// disk is the part of a machine's disk that its programs use, as a folder: /etc/kubernetes is <disk>/etc/kubernetes.
type disk string

// kubernetesDir is where kubeadm keeps what it makes.
const kubernetesDir = "/etc/kubernetes"

var safeName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.-]*$`)

// newDisk is an empty disk for a machine.
func (r *Registry) newDisk(n cluster.Node) (disk, error) {
	if !safeName.MatchString(n.SystemUUID) || !safeName.MatchString(n.Name) {
		return "", fmt.Errorf("machine %q with UUID %q: its name cannot be a file's", n.Name, n.SystemUUID)
	}
	d := disk(filepath.Join(r.options.Dir, "machines", n.SystemUUID))
	if err := os.RemoveAll(string(d)); err != nil {
		return "", fmt.Errorf("empty the disk of node %s: %w", n.Name, err)
	}
	for name, content := range n.Files {
		if err := d.write(name, content); err != nil {
			return "", fmt.Errorf("write the disk of node %s: %w", n.Name, err)
		}
	}
	return d, nil
}

// path is where a file of the machine really is.
func (d disk) path(name string) string { return filepath.Join(string(d), filepath.Clean("/"+name)) }

func (d disk) write(name string, content []byte) error {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// inside turns a flag's value into what it means on this machine's disk.
func (d disk) inside(value string) string {
	if strings.HasPrefix(value, kubernetesDir+"/") {
		return d.path(value)
	}
	return value
}

func (d disk) remove() error { return os.RemoveAll(string(d)) }
