package render_test

import (
	"strings"
	"testing"

	"kubehenge.dev/render"
)

// FuzzClaim: whatever stands in a claim, rendering ends with objects or with problems that have a place and a sentence, and always the same.
func FuzzClaim(f *testing.F) {
	example := string(repository(f)[claimFile])
	f.Add(example)
	f.Add(strings.Replace(example, "spec:", "spec: null", 1))
	f.Add(strings.Replace(example, "replicas: 3", "replicas: 99999999999999999999", 1))
	f.Add(strings.Replace(example, "name: hello", "name: {a: b}", 1))
	f.Add(strings.Replace(example, "10.0.40.10", "fe80::1%eth0", 1))
	f.Add(strings.Replace(example, "v1.36.3", "!!binary aGVsbG8=", 1))
	f.Add(example + "  pools: [&p {name: a, replicas: 1, size: small}, *p]\n  podCIDR: ::/0\n")
	f.Add("- a\n- b\n")
	f.Fuzz(func(t *testing.T, text string) {
		files := repository(t)
		files[claimFile] = []byte(text)
		first, second := rendered(t, render.Memory(files)), rendered(t, render.Memory(files))
		if a, b := summary(t, first), summary(t, second); a != b {
			t.Errorf("%s\nand then\n%s", a, b)
		}
		o := first.Overlays[0]
		if (len(o.Problems) == 0) != (len(o.Objects) > 0) {
			t.Errorf("%d problems and %d objects", len(o.Problems), len(o.Objects))
		}
		for _, p := range o.Problems {
			if p.Path == "" || p.Message == "" || strings.Contains(p.String(), "\n") {
				t.Errorf("%+v", p)
			}
		}
	})
}
