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

// named is a cluster's firewall with names in it.
var named = &Config{Aliases: map[string]Alias{"lan": {Name: "LAN", CIDR: "10.0.0.0/8"}}, Sets: map[string]*Set{"admins": {}}}

func TestRulesThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"type=in action=ACCEPT proto=tcp dport=22,80:90,ssh source=10.0.0.0/8,10.1.0.1-10.1.0.9": "",
		"type=in action=ACCEPT macro=ssh":                 "",
		"type=group action=web":                           "",
		"type=in action=DROP source=+dc/admins dest=+own": "",
		"type=in action=DROP source=dc/lan dest=LAN":      "",
		"type=in":                                                 "action missing property",
		"action=DROP":                                             "type missing property",
		"type=forward action=DROP":                                "type invalid rule type 'forward' for rule_env 'vm'",
		"type=in action=PASS":                                     "action unknown action 'PASS'",
		"type=group action=1":                                     "action invalid characters in security group name",
		"type=in action=DROP iface=eth0":                          `iface value does not match the regex pattern 'net\d+'`,
		"type=in action=DROP macro=none":                          "macro unknown macro 'none'",
		"type=in action=DROP macro=SSH dport=22":                  "proto missing property - 'dport' requires this property",
		"type=in action=DROP dport=22":                            "proto missing property - 'dport' requires this property",
		"type=in action=DROP proto=esp dport=22":                  "dport protocol 'esp' does not support ports",
		"type=in action=DROP proto=tcp dport=99999":               "dport invalid port '99999'",
		"type=in action=DROP proto=tcp icmp-type=any":             "proto missing property - 'icmp-type' requires this property",
		"type=in action=DROP proto=icmp icmp-type=any dport=echo": "icmp-type 'icmp-type' cannot be specified together with 'dport'",
		"type=in action=DROP source=+dc/xy":                       "source no such ipset 'xy'",
		"type=in action=DROP source=dc/office":                    "source no such alias 'dc/office'",
		"type=in action=DROP dest=1.2.3":                          "dest invalid address '1.2.3'",
	} {
		field, reason := Verify(rule(text), Place{Env: VM, Cluster: named, Own: &Config{Sets: map[string]*Set{"own": {}}}})
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
		var rules []Rule
		for _, id := range []string{"c", "b", "a"} {
			rules = Insert(rules, Rule{"comment": id})
		}
		moved := Move(rules, c.from, c.to)
		var got strings.Builder
		for _, r := range moved {
			got.WriteString(r["comment"])
		}
		if got.String() != c.want || (Digest(moved) == Digest(rules)) != (c.want == "abc") {
			t.Errorf("from %d to %d: %s, want %s", c.from, c.to, got.String(), c.want)
		}
	}
}

func TestAddressesOfSets(t *testing.T) {
	for cidr, want := range map[string]string{
		"10.1.2.3":      "10.1.2.3",
		"10.1.2.3/32":   "10.1.2.3",
		"10.1.2.3/8":    "10.0.0.0/8",
		"fd00::1/128":   "fd00::1",
		"lan":           "lan",
		"dc/LAN":        "dc/LAN",
		"guest/lan":     "no such alias 'lan'",
		"nothing":       "no such alias 'nothing'",
		"0.0.0.0/0":     "a zero prefix is not allowed in ipset entries",
		"300.1.1.1/400": "value does not look like a valid IP address or CIDR network",
	} {
		got, err := EntryAddress(cidr, Place{Env: Cluster, Cluster: named, Own: named})
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", cidr, got, want)
		}
	}
}
