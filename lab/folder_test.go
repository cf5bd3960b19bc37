package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFolderThatIsNoLabsIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := takeFolder(dir); err == nil || !strings.Contains(err.Error(), "no lab's") {
		t.Errorf("error %v, want one that says that the folder is no lab's", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error("the file is gone")
	}
}

func TestALabsFolderIsEmptiedAtTheNextStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "lab")
	release, err := takeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "etcd", "data")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := takeFolder(dir); err == nil || !strings.Contains(err.Error(), "running lab") {
		t.Errorf("error %v while the lab runs, want one that says so", err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error("the folder of a running lab was emptied")
	}
	release()
	if release, err = takeFolder(dir); err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := os.Stat(left); err == nil {
		t.Error("what the earlier run left is still there")
	}
}

func TestAnIndexIsTakenOnceAndTheErrorSaysByWhom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	release, err := claimIndex(77, "/data/of/the/first")
	if err != nil {
		t.Fatal(err)
	}
	_, err = claimIndex(77, "/data/of/the/second")
	if err == nil {
		t.Fatal("the index was given twice")
	}
	for _, want := range []string{"127.77.0.0/16", fmt.Sprint(os.Getpid()), "/data/of/the/first", "--index"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	release()
	release, err = claimIndex(77, "/data/of/the/second")
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	release()
}

func TestLabsSideBySideShareNoAddressAndNoPort(t *testing.T) {
	ports := map[int]int{}
	for index := 1; index <= 250; index++ {
		a := Addresses{index: index}
		if want := fmt.Sprintf("127.%d.0.1", index); a.Services() != want {
			t.Errorf("lab %d has its services on %s, want %s", index, a.Services(), want)
		}
		for i := range capmoxSlot + 1 {
			port := a.webhook(i)
			if other, taken := ports[port]; taken || port > 32767 {
				t.Errorf("lab %d has webhook port %d, as lab %d, or in the range for outgoing connections", index, port, other)
			}
			ports[port] = index
		}
	}
}

func TestTheLabsFleetIsCompleteAndOnItsOwnAddresses(t *testing.T) {
	fleet, err := Addresses{index: 42}.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"subnet: 127.42.40.0/22", "[127.42.40.10-127.42.40.250]", "[127.42.41.1-127.42.43.250]", "[pve1, pve2, pve3]"} {
		if !strings.Contains(string(fleet), want) {
			t.Errorf("no %q in\n%s", want, fleet)
		}
	}
}
