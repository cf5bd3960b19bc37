package recordings

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// placeholders stand in recorded texts for what differs from one run to the next.
var placeholders = map[string]string{
	"<int>": `-?\d+`, "<num>": `-?\d+(?:\.\d+)?(?:e-?\d+)?`, "<hex>": `[0-9A-Fa-f]+`, "<uuid>": `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	"<mac>": `(?i:[0-9a-f]{2}(?::[0-9a-f]{2}){5})`, "<time>": `\d{9,}`, "<digest>": `[0-9a-f]{40}`, "<str>": `(?s:.+)`, "<ticket>": `PVE:\S+`, "<csrf>": `[0-9A-F]{8}:\S+`,
	"<upid>": `UPID:[^\s",]+:`, "<line>": `\S+ line \d+`, "<fp>": `(?:[0-9A-F]{2}:){31}[0-9A-F]{2}`, "<date>": `\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}`, "<text>": `(?s:.*)`,
}

var (
	placeholder = regexp.MustCompile(`<(?:int|num|hex|uuid|mac|time|digest|str|ticket|csrf|upid|line|fp|date|text)>`)
	patterns    sync.Map
)

// textMatches compares a text with a recorded one that may hold placeholders.
func textMatches(want, got string) bool {
	if want == got {
		return true
	}
	if !placeholder.MatchString(want) {
		return false
	}
	re, known := patterns.Load(want)
	if !known {
		var b strings.Builder
		from := 0
		for _, m := range placeholder.FindAllStringIndex(want, -1) {
			b.WriteString(regexp.QuoteMeta(want[from:m[0]]) + placeholders[want[m[0]:m[1]]])
			from = m[1]
		}
		re = regexp.MustCompile(`\A(?:` + b.String() + regexp.QuoteMeta(want[from:]) + `)\z`)
		patterns.Store(want, re)
	}
	return re.(*regexp.Regexp).MatchString(got)
}

// commaLists are keys whose comma separated values have no order.
var commaLists = []string{"privs", "users", "groups", "content", "resources", "nodes", "vmid_list"}

func canon(x any) any {
	switch v := x.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			if text, ok := e.(string); ok && slices.Contains(commaLists, k) && !strings.Contains(text, " ") {
				parts := strings.Split(text, ",")
				sort.Strings(parts)
				m[k] = strings.Join(parts, ",")
				continue
			}
			m[k] = canon(e)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = canon(e)
		}
		return list
	}
	return x
}

// compare returns what differs between a recorded answer and one that came.
func compare(want map[string]any, got reply) []string {
	var out []string
	if ws, gs := fmt.Sprint(want["status"]), fmt.Sprint(got["status"]); ws != gs {
		out = append(out, fmt.Sprintf("status: want %s %q, got %s %q", ws, want["reason"], gs, got["reason"]))
	} else if !textMatches(fmt.Sprint(want["reason"]), fmt.Sprint(got["reason"])) {
		out = append(out, fmt.Sprintf("reason: want %q, got %q", want["reason"], got["reason"]))
	}
	for _, k := range []string{"body", "errors", "message", "exitstatus", "data"} {
		w, wok := want[k]
		g, gok := got[k]
		if wok || gok {
			diff(canon(w), canon(g), k, &out)
		}
	}
	return out
}

func short(x any) string {
	b, _ := json.Marshal(x)
	if len(b) > 260 {
		b = b[:260]
	}
	return string(b)
}

func isLog(list []any) bool {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok || m["n"] == nil || m["t"] == nil {
			return false
		}
	}
	return true
}

func diff(want, got any, path string, out *[]string) {
	if want == "<any>" {
		return
	}
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			diffObjects(w, g, path, out)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			diffLists(w, g, path, out)
			return
		}
	case string:
		if n, ok := got.(json.Number); ok && (w == "<int>" || w == "<num>" || w == "<time>") {
			if f, err := n.Float64(); err == nil && (w == "<num>" || f == float64(int64(f))) {
				return
			}
		}
		if g, ok := got.(string); ok {
			if !textMatches(w, g) {
				*out = append(*out, fmt.Sprintf("%s: want %s, got %s", path, short(w), short(g)))
			}
			return
		}
	default:
		if fmt.Sprint(want) == fmt.Sprint(got) && fmt.Sprintf("%T", want) == fmt.Sprintf("%T", got) {
			return
		}
	}
	*out = append(*out, fmt.Sprintf("%s: want %s, got %s", path, short(want), short(got)))
}

func diffObjects(want, got map[string]any, path string, out *[]string) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		g, there := got[k]
		switch {
		case want[k] == "<optional>":
		case !there:
			*out = append(*out, fmt.Sprintf("%s.%s: missing (want %s)", path, k, short(want[k])))
		default:
			diff(want[k], g, path+"."+k, out)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[k]; !known {
			*out = append(*out, fmt.Sprintf("%s.%s: unexpected %s", path, k, short(got[k])))
		}
	}
}

func diffLists(want, got []any, path string, out *[]string) {
	if len(want) != len(got) {
		*out = append(*out, fmt.Sprintf("%s: want %d items, got %d: %s", path, len(want), len(got), short(got)))
		return
	}
	if isLog(append(slices.Clone(want), got...)) {
		for i := range want {
			diff(want[i], got[i], fmt.Sprintf("%s[%d]", path, i), out)
		}
		return
	}
	left := slices.Clone(got)
	var rest []any
	for _, w := range fewestPlaceholdersFirst(want) {
		i := slices.IndexFunc(left, func(g any) bool {
			var t []string
			diff(w, g, "", &t)
			return len(t) == 0
		})
		if i < 0 {
			rest = append(rest, w)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for i, w := range rest {
		diff(w, left[i], fmt.Sprintf("%s[?%d]", path, i), out)
	}
}

func fewestPlaceholdersFirst(list []any) []any {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b any) int { return strings.Count(short(a), "<") - strings.Count(short(b), "<") })
	return sorted
}
