package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/appliance/audit"
)

func TestEventsAreLinesThatAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	now := time.Unix(1800000000, 0).UTC()
	open := func() *audit.Log {
		l, err := audit.Open(path, testclock.NewFakePassiveClock(now))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	l := open()
	for i := range 5 {
		if err := l.Write(audit.Event{User: "alice@pve", What: "commit", On: "team-a/shop", Detail: fmt.Sprintf("line\n%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	l = open() // after a restart
	if err := l.Write(audit.Event{What: "sign-in", Refused: "no"}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Last(2)
	if err != nil {
		t.Fatal(err)
	}
	want := []audit.Event{{Time: now, What: "sign-in", Refused: "no"}, {Time: now, User: "alice@pve", What: "commit", On: "team-a/shop", Detail: "line\n4"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	content, err := os.ReadFile(path)
	if err != nil || strings.Count(string(content), "\n") != 6 {
		t.Errorf("%d lines: %v", strings.Count(string(content), "\n"), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, append(content, `{"what": "cut o`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Last(100); err != nil || len(got) != 6 {
		t.Errorf("after a crash %d events: %v", len(got), err)
	}
	long := `{"what":"push","refused":"` + strings.Repeat("x", 3<<20) + `"}` + "\n"
	if err := os.WriteFile(path, []byte(long+string(content)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Last(100); err != nil || len(got) != 6 {
		t.Errorf("after a line that is too long %d events: %v", len(got), err)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := audit.Open(path, testclock.NewFakePassiveClock(time.Unix(1800000000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Write(audit.Event{What: "push", Refused: strings.Repeat("ü", 1<<20)}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Last(1)
	if err != nil || len(got) != 1 || len([]rune(got[0].Refused)) != 4000 {
		t.Errorf("%d events: %v", len(got), err)
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := audit.Open(path, testclock.NewFakePassiveClock(time.Unix(1800000000, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(audit.Event{What: "kubeconfig"}); err == nil {
		t.Error("an event was lost without a word")
	}
	if _, err := audit.Open(filepath.Join(path, "below"), nil); err == nil {
		t.Error("a log was opened below a file")
	}
}
