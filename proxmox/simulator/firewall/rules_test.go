package firewall

import (
	"strings"
	"testing"
)

func rule(text string) Rule {
	r := Rule{}
	for _, pair := range strings.Fields(text) {
		k, v, _ := strings.Cut(pair, "=")
		r[k] = v
	}
	return r
}

func TestRulesThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"type=in action=ACCEPT proto=tcp dport=22,80:90,ssh source=10.0.0.0/8,10.1.0.1-10.1.0.9": "",
		"type=in action=ACCEPT macro=ssh":                         "",
		"type=group action=web":                                   "",
		"type=in":                                                 "action missing property",
		"action=DROP":                                             "type missing property",
		"type=forward action=DROP":                                "type invalid rule type 'forward' for rule_env 'vm'",
		"type=in action=PASS":                                     "action unknown action 'PASS'",
		"type=group action=1":                                     "action invalid characters in security group name",
		"type=in action=DROP iface=eth0":                          `iface value does not match the regex pattern 'net\d+'`,
		"type=in action=DROP macro=none":                          "macro unknown macro 'none'",
		"type=in action=DROP dport=22":                            "proto missing property - 'dport' requires this property",
		"type=in action=DROP proto=esp dport=22":                  "dport protocol 'esp' does not support ports",
		"type=in action=DROP proto=tcp dport=99999":               "dport invalid port '99999'",
		"type=in action=DROP proto=tcp icmp-type=any":             "proto missing property - 'icmp-type' requires this property",
		"type=in action=DROP proto=icmp icmp-type=any dport=echo": "icmp-type 'icmp-type' cannot be specified together with 'dport'",
		"type=in action=DROP source=+dc/x":                        "source no such ipset 'x'",
		"type=in action=DROP source=dc/office":                    "source no such alias 'dc/office'",
		"type=in action=DROP dest=1.2.3":                          "dest invalid address '1.2.3'",
	} {
		field, reason := Verify(rule(text), VM)
		if got := strings.TrimSpace(field + " " + reason); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestRulesMove(t *testing.T) {
	for _, c := range []struct {
		from, to int
		want     string
	}{{0, 2, "bac"}, {2, 0, "cab"}, {0, 9, "bca"}, {1, 1, "abc"}} {
		f := &Config{}
		for _, id := range []string{"c", "b", "a"} {
			f.Insert(Rule{"comment": id})
		}
		before := f.RulesDigest()
		if c.from != c.to {
			f.Move(c.from, c.to)
		}
		var got strings.Builder
		for _, r := range f.Rules {
			got.WriteString(r["comment"])
		}
		if got.String() != c.want || (f.RulesDigest() == before) != (c.want == "abc") {
			t.Errorf("from %d to %d: %s, want %s", c.from, c.to, got.String(), c.want)
		}
	}
}
