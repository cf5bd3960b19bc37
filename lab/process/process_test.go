package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubehenge.dev/lab/process"
)

// role has this test binary play a child or a parent.
const role = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "child":
		listenForever(os.Args[1])
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		listenForever(os.Args[1])
	case "broken":
		fmt.Println("no such thing as a cluster")
		os.Exit(3)
	case "parent":
		playParent(os.Args[1])
	}
}

func listenForever(socket string) {
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	for {
		conn, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		conn.Close()
	}
}

// playParent starts a child and tells its process ID, and never ends.
func playParent(dir string) {
	s := process.NewSupervisor(process.Options{LogDir: dir})
	if err := s.Start(context.Background(), child("child", filepath.Join(dir, "c"))); err != nil {
		panic(err)
	}
	fmt.Println(s.Status()[0].PID)
	select {}
}

func child(as, socket string) process.Spec {
	return process.Spec{
		Name: filepath.Base(socket), Path: os.Args[0], Args: []string{socket},
		Env: []string{role + "=" + as}, Ready: process.Dial("unix", socket),
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func supervisor(t *testing.T) (*process.Supervisor, string) {
	dir := t.TempDir()
	s := process.NewSupervisor(process.Options{LogDir: dir})
	t.Cleanup(s.Stop)
	return s, dir
}

func TestAKilledChildIsStartedAgain(t *testing.T) {
	s, dir := supervisor(t)
	ctx := within(t)
	if err := s.Start(ctx, child("child", filepath.Join(dir, "c"))); err != nil {
		t.Fatal(err)
	}
	first := s.Status()[0].PID
	if err := s.Kill("c"); err != nil {
		t.Fatal(err)
	}
	gone(ctx, t, first)
	if err := s.WaitReady(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	now := s.Status()[0]
	if now.PID == first || now.Ends != 1 || now.State != process.Running {
		t.Errorf("after a kill: %+v, first process %d", now, first)
	}
}

func TestStopLeavesNothingNotEvenAChildThatIgnoresIt(t *testing.T) {
	s, dir := supervisor(t)
	stubborn := child("stubborn", filepath.Join(dir, "s"))
	stubborn.StopTimeout = 100 * time.Millisecond
	ctx := within(t)
	if err := s.Start(ctx, child("child", filepath.Join(dir, "c")), stubborn); err != nil {
		t.Fatal(err)
	}
	before := s.Status()
	s.Stop()
	for _, c := range before {
		if process.Alive(c.PID) {
			t.Errorf("%s still runs after Stop", c.Name)
		}
	}
}

func TestThoseStartedLastAreStoppedFirst(t *testing.T) {
	s, dir := supervisor(t)
	ctx := within(t)
	for _, name := range []string{"a", "b"} {
		if err := s.Start(ctx, child("child", filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	first, last := s.Status()[0].PID, s.Status()[1].PID
	// The last one is held, so that Stop waits for it: the first must still run then.
	if err := s.Pause("b"); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() { s.Stop(); close(stopped) }()
	if process.Alive(first) != true {
		t.Error("the first child ended before the last")
	}
	if err := syscall.Kill(last, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-stopped
	if process.Alive(first) || process.Alive(last) {
		t.Error("a child still runs after Stop")
	}
}

func TestAChildThatDoesNotComeUpIsToldWithTheEndOfItsLog(t *testing.T) {
	s, dir := supervisor(t)
	err := s.Start(within(t), child("broken", filepath.Join(dir, "b")))
	if err == nil || !strings.Contains(err.Error(), "no such thing as a cluster") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v, want one with the log's end and the exit status", err)
	}
}

func TestAMissingProgramIsTold(t *testing.T) {
	s, _ := supervisor(t)
	spec := process.Spec{Name: "x", Path: "/nowhere/x", Ready: func(context.Context) error { return errors.New("no") }}
	err := s.Start(within(t), spec)
	if err == nil || !strings.Contains(err.Error(), "/nowhere/x") {
		t.Errorf("error %v, want one that names the program", err)
	}
}

func TestNothingSurvivesTheParentsSIGKILL(t *testing.T) {
	parent := exec.Command(os.Args[0], t.TempDir())
	parent.Env = append(os.Environ(), role+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !process.Alive(pid) {
		t.Fatal("the child does not run, so the test would prove nothing")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	gone(within(t), t, pid)
}

// gone waits until a process has ended; a zombie that nobody waits for has, too.
func gone(ctx context.Context, t *testing.T, pid int) {
	t.Helper()
	err := process.Wait(ctx, "the process to end", 10*time.Millisecond, func(context.Context) error {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return nil
		}
		return errors.New("it runs")
	})
	if err != nil {
		t.Error(err)
	}
}

func TestALogThatReachesItsLimitIsMovedAside(t *testing.T) {
	dir := t.TempDir()
	s := process.NewSupervisor(process.Options{LogDir: dir, LogLimit: 64})
	t.Cleanup(s.Stop)
	spec := child("child", filepath.Join(dir, "c"))
	old := strings.Repeat("x", 60) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "c.log"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(within(t), spec); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	aside, err := os.ReadFile(filepath.Join(dir, "c.log.1"))
	if err != nil || string(aside) != old {
		t.Errorf("moved aside: %q, %v", aside, err)
	}
	f, err := os.Open(filepath.Join(dir, "c.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if now, _ := io.ReadAll(f); string(now) != "listening\n" {
		t.Errorf("the log now: %q", now)
	}
}
