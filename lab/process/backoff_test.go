package process

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackoffDoublesUntilAChildRunsSteadily(t *testing.T) {
	b := backoff{first: time.Second, most: 5 * time.Second, steady: time.Minute}
	var got []time.Duration
	for _, ran := range []time.Duration{0, 0, 0, 0, 2 * time.Minute, 0} {
		got = append(got, b.after(ran)/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 5, 1, 2}, got); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
}
