package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Machine is where figures were measured. A load before the start that is not near zero spoils them.
type Machine struct {
	Processors int    `json:"processors"`
	Load       string `json:"loadBefore"`
}

// String is one line for people.
func (m Machine) String() string {
	return fmt.Sprintf("Measured on %d processors; load average before the start: %s.", m.Processors, m.Load)
}

func thisMachine() Machine {
	m := Machine{Processors: runtime.NumCPU(), Load: "unknown"}
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(data), " ")
	}
	return m
}

// stopwatch measures wall and processor time of this process, garbage collection included.
type stopwatch struct {
	wall time.Time
	cpu  time.Duration
}

// lap is a measured stretch of time.
type lap struct{ wall, cpu time.Duration }

func startWatch() (stopwatch, error) {
	runtime.GC() // what was done before must not be collected at the expense of what is measured
	cpu, err := processorTime()
	return stopwatch{wall: time.Now(), cpu: cpu}, err
}

func (s stopwatch) lap() (lap, error) {
	wall := time.Since(s.wall)
	cpu, err := processorTime()
	return lap{wall: wall, cpu: cpu - s.cpu}, err
}

func processorTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read this process's processor time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// memory is a process's memory in megabytes: what it holds now, and the most that it held.
type memory struct{ resident, peak float64 }

func memoryOf(pid int) (memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	return parseMemory(string(data))
}

// parseMemory reads VmRSS and VmHWM of proc_pid_status(5).
func parseMemory(status string) (memory, error) {
	var m memory
	err := readSizes(status, map[string]*float64{"VmRSS:": &m.resident, "VmHWM:": &m.peak})
	return m, err
}

// pages is a process's resident memory in megabytes, by what is behind it. Files are mostly the program itself, whose pages the
// kernel takes back when it needs room.
type pages struct{ resident, anonymous float64 }

func (p pages) files() float64 { return p.resident - p.anonymous }

func pagesOf(pid int) (pages, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return pages{}, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	return parsePages(string(data))
}

// parsePages reads Rss and Anonymous of proc_pid_smaps(5).
func parsePages(rollup string) (pages, error) {
	var p pages
	err := readSizes(rollup, map[string]*float64{"Rss:": &p.resident, "Anonymous:": &p.anonymous})
	return p, err
}

// readSizes reads lines such as "Rss: 100 kB", in units of 1,024 bytes, as megabytes. All of them must be there.
func readSizes(text string, into map[string]*float64) error {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 || into[fields[0]] == nil {
			continue
		}
		kib, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return fmt.Errorf("read %s %w", fields[0], err)
		}
		*into[fields[0]] = kib * 1024 / 1e6
	}
	for name, size := range into {
		if *size == 0 {
			return fmt.Errorf("what the kernel says of the process has no %s", strings.TrimSuffix(name, ":"))
		}
	}
	return nil
}
