package choice

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// What a real cluster takes, in MiB.
const (
	// perMachine is a control-plane machine's share: etcd, kube-apiserver, and its part of the controllers.
	perMachine = 400
	// machines is for how many room is asked: those of a highly available control plane, which one machine may become.
	machines = 3
	// spare is what other processes may yet want.
	spare = 1024
)

// EnoughMemory says why the memory of this machine does not suffice for one more real cluster.
func EnoughMemory() error { return enough(os.DirFS("/")) }

func enough(root fs.FS) error {
	available, err := available(root)
	if err != nil {
		return fmt.Errorf("look for memory: %w", err)
	}
	const need = machines*perMachine + spare
	if available < need {
		return fmt.Errorf("%d MiB of memory are available and a real cluster wants %d", available, need)
	}
	return nil
}

// available is the memory in MiB that new processes may take: the kernel's own figure, or less in a control group with a
// limit.
func available(root fs.FS) (int, error) {
	free, err := memAvailable(root)
	if err != nil {
		return 0, err
	}
	limit, err := number(root, "sys/fs/cgroup/memory.max")
	if err != nil {
		return free, nil // no limit, or no control groups
	}
	used, err := number(root, "sys/fs/cgroup/memory.current")
	if err != nil {
		return free, nil
	}
	return min(free, (limit-used)>>20), nil
}

func number(root fs.FS, name string) (int, error) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}

func memAvailable(root fs.FS) (int, error) {
	file, err := root.Open("proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			kibibytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(value, "kB")))
			return kibibytes >> 10, err
		}
	}
	return 0, fmt.Errorf("proc/meminfo has no MemAvailable")
}
