package child_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubehenge.dev/lab/guests/child"
)

// role makes this test's binary one of the programs.
const role = "KUBEHENGE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "waits":
		fmt.Println("waiting")
		select {}
	case "ends":
		fmt.Println("no such thing as a cluster")
		os.Exit(3)
	case "parent":
		c := child.Start(program("waits", os.Args[1]))
		for c.PID() == 0 {
			<-time.After(time.Millisecond)
		}
		fmt.Println(c.PID())
		select {}
	}
	os.Exit(m.Run())
}

func program(as, dir string) child.Program {
	return child.Program{Name: as, Path: os.Args[0], Env: []string{role + "=" + as, "GORACE="}, Log: filepath.Join(dir, as+".log")}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// alive says whether a process runs; one that nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestAProgramRunsUntilItIsStopped(t *testing.T) {
	c := child.Start(program("waits", t.TempDir()))
	eventually(t, "it runs", c.Running)
	pid := c.PID()
	c.Stop()
	if c.Running() || alive(pid) {
		t.Error("it runs after its stop")
	}
	c.Stop() // a second one does nothing
}

func TestAProgramThatIsKilledRunsAgain(t *testing.T) {
	c := child.Start(program("waits", t.TempDir()))
	t.Cleanup(c.Stop)
	eventually(t, "it runs", c.Running)
	first := c.PID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs again", func() bool { return c.PID() != 0 && c.PID() != first })
}

func TestAProgramThatEndsIsToldWithItsLog(t *testing.T) {
	c := child.Start(program("ends", t.TempDir()))
	t.Cleanup(c.Stop)
	eventually(t, "it has ended", func() bool { return c.Failed(1) != nil })
	err := c.Failed(1).Error()
	if !strings.Contains(err, "exit status 3") || !strings.Contains(err, "no such thing as a cluster") {
		t.Errorf("error %s", err)
	}
	if c.Failed(1000) != nil {
		t.Error("it has not ended a thousand times")
	}
}

func TestAProgramThatIsMissingIsTold(t *testing.T) {
	p := program("waits", t.TempDir())
	p.Path = "/nowhere/x"
	c := child.Start(p)
	t.Cleanup(c.Stop)
	eventually(t, "the program is named", func() bool {
		err := c.Failed(1)
		return err != nil && strings.Contains(err.Error(), "/nowhere/x")
	})
}

func TestNothingSurvivesTheEndOfItsParent(t *testing.T) {
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
	if err != nil || !alive(pid) {
		t.Fatalf("process %q does not run, so the test would prove nothing", line)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, "the child is gone", func() bool { return !alive(pid) })
}
