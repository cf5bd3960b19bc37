package machine

import (
	"errors"
	"testing"
)

func TestChoose(t *testing.T) {
	for name, c := range map[string]struct {
		nodes   []candidate
		request uint64
		want    string
		err     bool
	}{
		"the node with the fewest VMs, though another has more memory": {
			[]candidate{{"a", 90, 2}, {"b", 20, 1}, {"c", 50, 2}}, 10, "b", false,
		},
		"among those with equally few, the one with the most memory": {
			[]candidate{{"a", 20, 1}, {"b", 90, 1}, {"c", 50, 0}, {"d", 60, 0}}, 10, "d", false,
		},
		"not a node that is too small": {
			[]candidate{{"a", 90, 2}, {"b", 9, 0}}, 10, "a", false,
		},
		"a node with exactly enough, if no other has more": {
			[]candidate{{"a", 10, 5}, {"b", 9, 0}}, 10, "a", false,
		},
		"none, if none has enough": {
			[]candidate{{"a", 9, 0}, {"b", 8, 0}}, 10, "", true,
		},
		"the first of equals": {
			[]candidate{{"pve1", 50, 0}, {"pve2", 50, 0}, {"pve3", 50, 0}}, 10, "pve1", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose(c.nodes, c.request)
			var none *insufficientMemory
			if got != c.want || errors.As(err, &none) != c.err {
				t.Errorf("chose %q, %v; want %q, error %v", got, err, c.want, c.err)
			}
		})
	}
}
