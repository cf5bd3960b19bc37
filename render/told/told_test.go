package told

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"
)

var (
	nodes = Count("test-nodes", "{n} node of {who}", "{n} nodes of {who}")
	needs = Define("test-needs", "{cluster} needs {what} for {span}, since {time}")
)

func TestSentencesAreSaidInEnglishAndKnownByTheirCode(t *testing.T) {
	now := time.Date(2026, 12, 1, 14, 32, 0, 0, time.UTC)
	for want, s := range map[string]Sentence{
		"1 node of shop":           nodes.With(Params{"n": 1, "who": "shop"}),
		"0 nodes of shop":          nodes.With(Params{"n": 0, "who": "shop"}),
		"2 nodes of {n} and {who}": nodes.With(Params{"n": 2, "who": []string{"{n}", "{who}"}}),
		"shop needs 1 node of a, 2 nodes of b and 1.5 GB for 25 minutes, since 12:00": needs.With(Params{"cluster": "shop", "span": Span(25 * time.Minute),
			"time": Moment{now.Add(-152 * time.Minute), now},
			"what": []Sentence{nodes.With(Params{"n": 1, "who": "a"}), nodes.With(Params{"n": 2, "who": "b"}), Plain(Bytes(3 << 29).String())}}),
		"shop": Plain("shop"),
	} {
		if s.String() != want {
			t.Errorf("it says %q, want %q", s, want)
		}
	}
	s := needs.With(Params{"cluster": "shop", "what": Bytes(5), "span": Span(time.Minute), "time": Moment{now, now}})
	want := `{"code":"test-needs","params":{"cluster":"shop","span":{"seconds":60},"time":{"time":"2026-12-01T14:32:00Z"},"what":{"bytes":5}}}`
	if got, err := json.Marshal(s); err != nil || string(got) != want {
		t.Errorf("programs are told %s, %v", got, err)
	}
}

func TestErrorsKeepTheirSentenceHoweverTheyAreWrapped(t *testing.T) {
	err := fmt.Errorf("team-a/shop: %w", nodes.With(Params{"n": 1, "who": "shop"}).Because(fs.ErrNotExist))
	s, ok := Of(err)
	if !ok || s.Code != "test-nodes" || !errors.Is(err, fs.ErrNotExist) || err.Error() != "team-a/shop: 1 node of shop" {
		t.Errorf("%v: %v %v", err, s, ok)
	}
	if _, ok := Of(fs.ErrNotExist); ok {
		t.Error("another's error has a sentence")
	}
}
