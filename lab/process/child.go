package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec says how to run a child.
type Spec struct {
	// Name names the child, its log file included.
	Name string
	// Path is the binary; Args are its arguments, without its name.
	Path string
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Ready says when the child is up. Default: as soon as it is started.
	Ready Probe
	// StopTimeout is how long the child may take to end after SIGTERM before it is killed. Default: 10 s.
	StopTimeout time.Duration
}

const defaultStopTimeout = 10 * time.Second

// child is a Spec that runs, until its context ends.
type child struct {
	spec    Spec
	options Options
	log     *logFile
	done    chan struct{} // closed when it will not be started again and has ended

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended and the status says so
	status Status
}

func newChild(spec Spec, options Options) (*child, error) {
	if spec.StopTimeout == 0 {
		spec.StopTimeout = defaultStopTimeout
	}
	path := filepath.Join(options.LogDir, spec.Name+".log")
	log, err := openLog(path, options.LogLimit)
	if err != nil {
		return nil, err
	}
	return &child{
		spec: spec, options: options, log: log, done: make(chan struct{}),
		status: Status{Name: spec.Name, State: Stopped, Log: path},
	}, nil
}

// run starts the child again and again until ctx ends, then asks it to end and waits for it.
func (c *child) run(ctx context.Context) {
	defer close(c.done)
	defer c.log.Close()
	delays := backoff{first: 200 * time.Millisecond, most: 10 * time.Second, steady: 30 * time.Second}
	for ctx.Err() == nil {
		started := c.options.Clock.Now()
		ended, err := c.start()
		if err == nil {
			c.waitOrStop(ctx, ended)
		} else {
			c.ended(err)
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-c.options.Clock.After(delays.after(c.options.Clock.Since(started))):
		}
	}
}

func (c *child) start() (<-chan error, error) {
	cmd := exec.Command(c.spec.Path, c.spec.Args...)
	cmd.Env = append(os.Environ(), c.spec.Env...)
	cmd.Stdout, cmd.Stderr = c.log, c.log
	// A grandchild that holds the output open must not keep Wait from returning.
	cmd.WaitDelay = time.Second
	if err := spawn(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.spec.Name, err)
	}
	c.mu.Lock()
	c.cmd, c.exited = cmd, make(chan struct{})
	c.status.State, c.status.PID, c.status.Since = Running, cmd.Process.Pid, c.options.Clock.Now()
	c.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

// waitOrStop returns when the child has ended: by itself, or because ctx ended and it was told to.
func (c *child) waitOrStop(ctx context.Context, ended <-chan error) {
	select {
	case err := <-ended:
		c.ended(err)
		return
	case <-ctx.Done():
	}
	_ = c.signal(syscall.SIGTERM)
	select {
	case err := <-ended:
		c.ended(err)
	case <-time.After(c.spec.StopTimeout):
		_ = c.signal(syscall.SIGKILL)
		c.ended(<-ended)
	}
}

func (c *child) ended(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd != nil {
		// What it left in its process group ends with it.
		_ = signal(c.cmd, syscall.SIGKILL)
		defer close(c.exited)
	}
	c.cmd = nil
	c.status.State, c.status.PID, c.status.Since = Stopped, 0, c.options.Clock.Now()
	c.status.Ends++
	c.status.LastEnd = "ended with status 0"
	if err != nil {
		c.status.LastEnd = err.Error()
	}
}

func (c *child) signal(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		return fmt.Errorf("signal %s: it is not running", c.spec.Name)
	}
	if err := signal(c.cmd, sig); err != nil {
		return fmt.Errorf("signal %s: %w", c.spec.Name, err)
	}
	return nil
}

// kill ends the process and returns when that is known.
func (c *child) kill() error {
	c.mu.Lock()
	exited := c.exited
	c.mu.Unlock()
	if err := c.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-exited
	return nil
}

// alive is nil while the child has not ended more often than the first starts of a child may.
func (c *child) alive(tries int) error {
	s := c.snapshot()
	if s.Ends < tries {
		return nil
	}
	return fmt.Errorf("%s ended %d times (%s):\n%s", s.Name, s.Ends, s.LastEnd, tail(s.Log, 10))
}

func (c *child) snapshot() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// tail returns the last lines of a log.
func tail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
