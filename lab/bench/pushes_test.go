package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHowLongAPushWasLookedAtIsInTheLog(t *testing.T) {
	const log = `2026/12/01 01:00:00 INFO repository not shown user=bob@pve reason="took=1h" error=<nil>
2026/12/01 01:00:01 INFO push judged user=a@pve commit=bbb taken=true took=12.5ms
2026/12/01 01:00:02 INFO push judged user=b@pve commit=aaa taken=true took=1.2s
`
	got, err := judged(log, []string{"aaa", "bbb"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Duration{1200 * time.Millisecond, 12500 * time.Microsecond}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := judged(log, []string{"ccc"}); err == nil || !strings.Contains(err.Error(), "ccc") {
		t.Errorf("a push that the log does not name: %v", err)
	}
	if _, err := judged("x INFO push judged commit=aaa took=long\n", nil); err == nil {
		t.Error("what is no time is taken for one")
	}
}
