package history_test

import (
	"context"
	"fmt"
	"testing"

	"kubehenge.dev/appliance/history"
	"kubehenge.dev/render/sample"
)

// BenchmarkFollow reads 1,000 clusters' history, 2,000 commits, from nothing.
func BenchmarkFollow(b *testing.B) {
	w := newWorld(b, 1000)
	for i := range 2000 {
		n := i * 7 % 1000
		w.commit("alice", fmt.Sprintf("Scale %d", n), map[string][]byte{sample.ClaimFile(n): claim(n, 3+i/1000)})
	}
	b.ResetTimer()
	for range b.N {
		if err := history.New(w.repository, nil).Follow(context.Background(), w.tip()); err != nil {
			b.Fatal(err)
		}
	}
}
