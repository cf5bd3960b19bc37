// Package child runs the real programs of simulated machines: each in a process group of its own, started again when it
// ends by itself, and gone at power off, at the end of this process, and when this process is killed.
//
// The lab's own supervisor (lab/process) belongs to another module, and asks programs to end; a machine that is switched
// off does not ask.
package child

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Program says what to run.
type Program struct {
	Name string // in errors
	Path string
	Args []string // without the program's name
	Env  []string // added to this process's
	Log  string   // path of the file that its output is added to
}

// Pauses before a program that ended is started again. Upstream: the kubelet's crash loop back-off begins with 10 s.
const (
	firstPause = time.Second
	longPause  = 10 * time.Second
	// steady is how long a program runs before its end counts as the first.
	steady = 30 * time.Second
)

// maxLog is the size in bytes at which a log is begun anew, when its program is started.
const maxLog = 8 << 20

// Child is a program that is kept running.
type Child struct {
	program Program
	stop    chan struct{}
	once    sync.Once
	done    chan struct{} // closed when it has ended and is not started again

	mu      sync.Mutex
	process *os.Process // nil while it does not run
	ends    int
	lastEnd string
}

// Start keeps a program running until Stop.
func Start(p Program) *Child {
	c := &Child{program: p, stop: make(chan struct{}), done: make(chan struct{})}
	go c.run()
	return c
}

// Stop kills the program and returns when it is gone. It may be called again, and at once.
func (c *Child) Stop() {
	c.once.Do(func() { close(c.stop) })
	<-c.done
}

// Running says whether the program runs now.
func (c *Child) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process != nil
}

// PID is the program's process ID, and 0 while it does not run.
func (c *Child) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0
	}
	return c.process.Pid
}

// Failed returns an error with the end of the log when the program has ended by itself that many times.
func (c *Child) Failed(times int) error {
	c.mu.Lock()
	ends, last := c.ends, c.lastEnd
	c.mu.Unlock()
	if ends < times {
		return nil
	}
	return fmt.Errorf("%s ended %d times (%s):\n%s", c.program.Name, ends, last, tail(c.program.Log))
}

func (c *Child) run() {
	defer close(c.done)
	pause := firstPause
	for {
		began := time.Now()
		c.ended(c.runOnce())
		if time.Since(began) > steady {
			pause = firstPause
		}
		select {
		case <-c.stop:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longPause)
	}
}

// runOnce runs the program to its end, or kills it at Stop.
func (c *Child) runOnce() error {
	cmd, err := c.spawn()
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.process = cmd.Process
	c.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The whole group, for what the program may leave behind.
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	select {
	case err = <-ended:
		kill()
		return err
	case <-c.stop:
		kill()
		<-ended
		return nil
	}
}

func (c *Child) ended(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.process = nil
	select {
	case <-c.stop:
		return
	default:
	}
	c.ends++
	c.lastEnd = "status 0"
	if err != nil {
		c.lastEnd = err.Error()
	}
}

func (c *Child) spawn() (*exec.Cmd, error) {
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(c.program.Log); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(c.program.Log, flags, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own
	cmd := exec.Command(c.program.Path, c.program.Args...)
	cmd.Env = append(os.Environ(), c.program.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, onSpawner(cmd)
}

// spawner is the one thread that starts children: the parent-death signal is sent when the *thread* that forked ends, not
// the process (prctl(2), PR_SET_PDEATHSIG), so it must live as long as the process.
var spawner = sync.OnceValue(func() chan<- func() {
	requests := make(chan func())
	go func() {
		runtime.LockOSThread()
		for request := range requests {
			request()
		}
	}()
	return requests
})

func onSpawner(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	spawner() <- func() { result <- cmd.Start() }
	return <-result
}

// tail returns the last lines of a log.
func tail(path string) string {
	const lines = 8
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
