package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestTheBoardWakesAClaimOnlyWhenWhatIsSaidChanges(t *testing.T) {
	shop := types.NamespacedName{Namespace: "team-a", Name: "shop"}
	woken := 0
	board := NewBoard(func(keys ...types.NamespacedName) { woken += len(keys) })
	early, late := time.Unix(0, 0), time.Unix(60, 0)
	steps := []struct {
		does  string
		do    func()
		wakes int
		shows []Notice
	}{
		{"a first notice", func() { board.Say(shop, "ha", Notice{Waiting, "Waiting for pve2", early}) }, 1, []Notice{{Waiting, "Waiting for pve2", early}}},
		{"the same again keeps its time", func() { board.Say(shop, "ha", Notice{Waiting, "Waiting for pve2", late}) }, 0, []Notice{{Waiting, "Waiting for pve2", early}}},
		{"what needs a person comes first", func() { board.Say(shop, "remedy", Notice{Terminal, "No template", late}) }, 1,
			[]Notice{{Terminal, "No template", late}, {Waiting, "Waiting for pve2", early}}},
		{"another sentence", func() { board.Say(shop, "ha", Notice{Waiting, "Waiting for pve3", late}) }, 1,
			[]Notice{{Terminal, "No template", late}, {Waiting, "Waiting for pve3", late}}},
		{"one is cleared", func() { board.Clear(shop, "remedy") }, 1, []Notice{{Waiting, "Waiting for pve3", late}}},
		{"clearing nothing", func() { board.Clear(shop, "remedy") }, 0, []Notice{{Waiting, "Waiting for pve3", late}}},
		{"the last is cleared", func() { board.Clear(shop, "ha") }, 1, []Notice{}},
	}
	for _, s := range steps {
		woken = 0
		s.do()
		if woken != s.wakes {
			t.Errorf("%s: woken %d times, want %d", s.does, woken, s.wakes)
		}
		if diff := cmp.Diff(s.shows, board.Notices(shop)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.does, diff)
		}
	}
	if len(board.notices) != 0 {
		t.Errorf("the board keeps %d claims without notices", len(board.notices))
	}
}
