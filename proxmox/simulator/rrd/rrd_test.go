package rrd

import (
	"testing"
	"time"
)

func TestTheHistoryIsAlwaysTheSame(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 30, 0, time.UTC)
	times := Times("hour", now)
	if len(times) != 70 || times[69] != now.Unix()-90 || times[1]-times[0] != 60 {
		t.Errorf("times of an hour: %d, last %d", len(times), times[len(times)-1])
	}
	differ := 0
	for _, at := range times {
		a, b := Wave("a", at), Wave("b", at)
		if a != Wave("a", at) || a < 0 || a > 1 {
			t.Fatalf("wave at %d: %v", at, a)
		}
		if a != b {
			differ++
		}
	}
	if differ < 60 {
		t.Errorf("two things differ %d times of 70 only", differ)
	}
	if Times("eternity", now) != nil {
		t.Error("a span that is none has values")
	}
}
