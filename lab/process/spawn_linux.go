package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawnRequests are handed to the one thread that starts children.
var spawnRequests = sync.OnceValue(func() chan<- func() {
	requests := make(chan func())
	go func() {
		// The parent-death signal is sent when the *thread* that forked ends, not the process (prctl(2),
		// PR_SET_PDEATHSIG): this thread must live as long as the process.
		runtime.LockOSThread()
		for request := range requests {
			request()
		}
	}()
	return requests
})

// spawn starts cmd in a process group of its own, to be killed when this process ends.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	spawnRequests() <- func() { result <- cmd.Start() }
	return <-result
}

// signal sends sig to the whole process group that cmd leads.
func signal(cmd *exec.Cmd, sig syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, sig) }

// Alive reports whether a process with this ID exists.
func Alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
