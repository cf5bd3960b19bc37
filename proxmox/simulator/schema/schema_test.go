package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerify(t *testing.T) {
	s := Must("vmid* vmid; name dns-name; cores int(1..8); ratio num(..1.5); onboot bool; mode enum(a b); nodes node-list; cmd array; key string(2..4 /x+/); sum string requires=algo; algo string; scsi[0-2] string")
	for name, c := range map[string]struct {
		values map[string]any
		want   Errors
	}{
		"nothing is wrong":                    {map[string]any{"vmid": "100", "name": "a.b", "cores": json.Number("2"), "onboot": true, "nodes": "a,b;c d", "scsi2": "x"}, Errors{}},
		"what must be given is missing":       {map[string]any{}, Errors{"vmid": Missing}},
		"what is not known is told":           {map[string]any{"vmid": "100", "x": "", "scsi3": ""}, Errors{"x": Undefined, "scsi3": Undefined}},
		"an ID that is too small":             {map[string]any{"vmid": "99"}, Errors{"vmid": "invalid format - value does not look like a valid VM ID\n"}},
		"numbers out of their range":          {map[string]any{"vmid": "100", "cores": "9", "ratio": "2"}, Errors{"cores": "value must have a maximum value of 8", "ratio": "value must have a maximum value of 1.5"}},
		"text where a number belongs":         {map[string]any{"vmid": "100", "cores": "1.5", "ratio": "x"}, Errors{"cores": "type check ('integer') failed - got '1.5'", "ratio": "type check ('number') failed - got 'x'"}},
		"only 0 and 1 are boolean as text":    {map[string]any{"vmid": "100", "onboot": "true"}, Errors{"onboot": "type check ('boolean') failed - got 'true'"}},
		"a list where one belongs":            {map[string]any{"vmid": "100", "mode": []any{"a"}}, Errors{"mode": "type check ('string') failed - got ARRAY"}},
		"lists are joined, values are listed": {map[string]any{"vmid": "100", "nodes": []any{"a", "b"}, "cmd": "x"}, Errors{}},
		"a value that is none of the enum":    {map[string]any{"vmid": "100", "mode": "c"}, Errors{"mode": "value 'c' does not have a value in the enumeration 'a, b'"}},
		"what another parameter asks for":     {map[string]any{"vmid": "100", "sum": "1"}, Errors{"algo": "missing property required by 'sum'"}},
		"texts too short, too long, no match": {map[string]any{"vmid": "100", "key": "xxxxx"}, Errors{"key": "value may only be 4 characters long"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, s.Verify(c.values)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNotation(t *testing.T) {
	for _, bad := range []string{"name", "name nosuchtype", "name string(/(/)", "name string x=1"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "512": 512, "1K": 1 << 10, "1.5M": 3 << 19, "32G": 32 << 30, "2T": 2 << 40} {
		if got, ok := ParseSize(text); !ok || got != want {
			t.Errorf("%s is %d, %v", text, got, ok)
		}
		if back, _ := ParseSize(FormatSize(want)); back != want {
			t.Errorf("%d is printed as %s", want, FormatSize(want))
		}
	}
	for _, bad := range []string{"", "G", "1X", "-1", "1e9"} {
		if _, ok := ParseSize(bad); ok {
			t.Errorf("%q is a size", bad)
		}
	}
}

func FuzzNotation(f *testing.F) {
	f.Add("a* string(1..2 /x;y/) requires=b; b[0-3] enum(x y)", "a=1,b=2")
	f.Fuzz(func(t *testing.T, notation, value string) {
		if len(notation) > 200 {
			return
		}
		s, err := Parse(notation)
		if err != nil {
			return
		}
		if pairs, err := s.ParseProperties("p", value); err == nil {
			if _, err := s.ParseProperties("p", s.Print(pairs)); err != nil {
				t.Errorf("%q is printed as %q: %v", value, s.Print(pairs), err)
			}
		}
	})
}
