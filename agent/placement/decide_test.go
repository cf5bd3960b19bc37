package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const gib = 1 << 30

// nodes writes "pve1 up 10/32, pve2 falling": state, and GiB free of how many.
func nodes(t *testing.T, text string) *look {
	t.Helper()
	l := &look{at: noon, quorate: true}
	states := map[string]state{"up": up, "rising": rising, "falling": falling, "down": down}
	for part := range strings.SplitSeq(text, ", ") {
		words := strings.Fields(part)
		s, known := states[words[1]]
		if !known {
			t.Fatalf("no state is named %s", words[1])
		}
		n := node{name: words[0], state: s}
		if len(words) > 2 {
			var free, total int64
			if _, err := fmt.Sscanf(words[2], "%d/%d", &free, &total); err != nil {
				t.Fatal(err)
			}
			n.free, n.total = free*gib, total*gib
		}
		l.nodes = append(l.nodes, n)
	}
	return l
}

func TestDecide(t *testing.T) {
	listed := func(names ...string) subject { return subject{known: true, made: true, listed: names, need: 4 * gib} }
	placing := func(s subject) subject { s.placing = true; return s }
	fresh := subject{placing: true, need: 4 * gib}
	allowed := func(s subject, names ...string) subject { s.allowed = names; return s }
	for _, c := range []struct {
		sentence string
		nodes    string
		subject  subject
		crowded  bool
		want     string // the list, or "keep"
		says     string
	}{
		{"a new cluster gets the nodes that are online", "pve1 up, pve2 up, pve3 down", fresh, false, "pve1,pve2", ""},
		{"of those that its claim allows", "pve1 up, pve2 up, pve3 up", allowed(fresh, "pve3", "pve1"), false, "pve1,pve3", ""},
		{"a node that has just gone is not for a new cluster", "pve1 up, pve2 falling", fresh, false, "pve1", ""},
		{"nor for one that is about to place machines", "pve1 up, pve2 falling", placing(listed("pve1", "pve2")), false, "pve1", ""},
		{"for all others it stays in the list", "pve1 up, pve2 falling", listed("pve1", "pve2"), false, "pve1,pve2", ""},
		{"until it has been away for long", "pve1 up, pve2 down", listed("pve1", "pve2"), false, "pve1", ""},
		{"a node that is back is not listed at once", "pve1 up, pve2 rising", listed("pve1"), false, "pve1", ""},
		{"if it never left the list it stays", "pve1 up, pve2 rising", listed("pve1", "pve2"), false, "pve1,pve2", ""},
		{"and after a while it is listed again", "pve1 up, pve2 up", listed("pve1"), false, "pve1,pve2", ""},
		{"a node that is just back is better than none", "pve1 rising, pve2 down", listed("pve2"), false, "pve1", ""},
		{"a new cluster without any online node waits", "pve1 down, pve2 falling", fresh, false, "", "No Proxmox VE node is online"},
		{"and is told which it may use", "pve1 up, pve2 down", allowed(fresh, "pve2", "pve9"), false, "",
			"None of the Proxmox VE nodes that the claim or the Fleet allows is online: pve2 and pve9"},
		{"a node that does not exist is told as such", "pve1 up", allowed(fresh, "pve9"), false, "",
			"Proxmox VE has no node pve9; the claim or the Fleet allows no other"},
		{"a cluster that is made keeps its list when all are away, for an empty one would mean any node", "pve1 down, pve2 down", listed("pve1", "pve2"), false, "keep", ""},
		{"and says so when it is about to place machines", "pve1 down", placing(listed("pve1")), false, "keep", "No Proxmox VE node is online"},
		{"a node without room is left out", "pve1 up 3/32, pve2 up 4/32", fresh, false, "pve2", ""},
		{"a node whose memory is not known counts as roomy", "pve1 up, pve2 up 3/32", fresh, false, "pve1", ""},
		{"a listed node stays while the machine fits", "pve1 up 4/32, pve2 up 9/32", listed("pve1", "pve2"), false, "pve1,pve2", ""},
		{"one that is not listed needs a quarter more to come in", "pve1 up 4/32, pve2 up 9/32", listed("pve2"), false, "pve2", ""},
		{"and comes in with that", "pve1 up 5/32, pve2 up 9/32", listed("pve2"), false, "pve1,pve2", ""},
		{"when no node has room all are listed and that is told", "pve1 up 3/32, pve2 up 0/32", placing(listed("pve1", "pve2")), false, "pve1,pve2",
			"No Proxmox VE node has room for a machine of 4 GiB, so nodes are overcommitted: pve1 has 3 GiB free and pve2 has 0 GiB free"},
		{"a cluster that places nothing need not be told", "pve1 up 3/32", listed("pve1"), false, "pve1", ""},
		{"from there on a node needs a quarter more to be the only one", "pve1 up 4/32, pve2 up 0/32", listed("pve1", "pve2"), true, "pve1,pve2", ""},
		{"and is the only one with that", "pve1 up 5/32, pve2 up 0/32", listed("pve1", "pve2"), true, "pve1", ""},
		{"a machine larger than every node needs a person", "pve1 up 2/3, pve2 up 1/2", fresh, false, "pve1,pve2",
			"A machine of 4 GiB is larger than every Proxmox VE node it may go to: pve1 has 3 GiB and pve2 has 2 GiB"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			l := nodes(t, c.nodes)
			d := decide(l, c.subject, c.crowded)
			got := strings.Join(d.nodes, ",")
			if d.keep {
				got = "keep"
			}
			says := ""
			if d.notice != nil {
				says = d.notice.Sentence
			}
			if diff := cmp.Diff([]string{c.want, c.says}, []string{got, says}); diff != "" {
				t.Error(diff)
			}
			// What was decided stays decided while nothing changes.
			next := c.subject
			next.listed, next.known = d.nodes, true
			if again := decide(l, next, d.crowded); !d.keep && len(d.nodes) > 0 && strings.Join(again.nodes, ",") != got {
				t.Errorf("the next decision is %v", again.nodes)
			}
		})
	}
}

func TestOnlyATooLargeMachineNeedsAPerson(t *testing.T) {
	for text, want := range map[string]status.Kind{"pve1 up 2/3": status.Terminal, "pve1 up 2/32": status.Waiting, "pve1 up 2/3, pve2 up 2/32": status.Waiting} {
		if d := decide(nodes(t, text), subject{placing: true, need: 4 * gib}, false); d.notice.Kind != want {
			t.Errorf("%s: kind %v, want %v", text, d.notice.Kind, want)
		}
	}
}

func TestWithoutQuorumNothingChanges(t *testing.T) {
	l := nodes(t, "pve1 up, pve2 down, pve3 down")
	l.quorate = false
	d := decide(l, subject{known: true, made: true, placing: true, listed: []string{"pve1", "pve2"}}, false)
	if !d.keep || d.notice == nil || d.notice.Sentence != "Proxmox VE has lost its quorum: most of its nodes are offline" {
		t.Errorf("%+v", d)
	}
}

func TestSpells(t *testing.T) {
	// Each letter is a look 15 seconds after the one before: + online, - not.
	for looks, want := range map[string]string{
		"++++":        "up up up up",
		"----":        "falling falling falling down",
		"+-+++":       "up falling rising rising up",
		"+----":       "up falling falling falling down",
		"+----+++":    "up falling falling falling down rising rising up",
		"+-+-+-+-":    "up falling rising falling rising falling rising falling",
		"-++":         "falling rising rising",
		"-+++":        "falling rising rising up",
		"+---+---+--": "up falling falling falling rising falling falling falling rising falling falling",
	} {
		h, now := history{}, noon
		var got []string
		for _, letter := range looks {
			states := h.see([]proxmox.Node{{Name: "pve1", Online: letter == '+'}}, now)
			got = append(got, []string{"up", "rising", "falling", "down"}[states["pve1"]])
			now = now.Add(15 * time.Second)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", looks, diff)
		}
	}
}

func TestANodeThatLeftProxmoxVEIsForgotten(t *testing.T) {
	h := history{}
	h.see([]proxmox.Node{{Name: "pve1"}}, noon)
	h.see(nil, noon)
	if len(h) != 0 {
		t.Errorf("%v", h)
	}
}

func TestFreeMemory(t *testing.T) {
	vm := func(status string, size int64, tags ...string) proxmox.Machine {
		return proxmox.Machine{Type: "qemu", Node: "pve1", Status: status, MemoryBytes: size * gib, Tags: tags}
	}
	template := vm("stopped", 8, "kubehenge")
	template.Template = true
	for _, c := range []struct {
		sentence string
		used     int64
		guests   []proxmox.Machine
		want     int64
	}{
		{"an empty node is free but for what it uses", 2, nil, 30},
		{"what running guests are configured with is spoken for", 2, []proxmox.Machine{vm("running", 8), vm("running", 4)}, 20},
		{"a guest that does not report, or is paused, counts like a running one", 2, []proxmox.Machine{vm("unknown", 8), vm("paused", 4)}, 20},
		{"a node that uses more than the token sees is as full as it says", 20, []proxmox.Machine{vm("running", 8)}, 12},
		{"other people's stopped guests do not count", 2, []proxmox.Machine{vm("stopped", 28), vm("stopped", 28, "web")}, 30},
		{"ours count when stopped, for they are about to be started", 2, []proxmox.Machine{vm("stopped", 8, "Kubehenge", "team-a.shop")}, 24},
		{"templates and owners of volumes are never started", 2, []proxmox.Machine{template, vm("stopped", 8, "kubehenge", "kubehenge-volumes")}, 30},
		{"an overcommitted node has nothing free, and not less", 2, []proxmox.Machine{vm("running", 40)}, 0},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			n := proxmox.Node{Name: "pve1", Online: true, MemoryBytes: 32 * gib, MemoryUsedBytes: c.used * gib}
			if got := freeMemory([]proxmox.Node{n}, c.guests)["pve1"]; got != c.want*gib {
				t.Errorf("%d GiB free, want %d", got/gib, c.want)
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	template := func(id int, tags string) proxmox.Machine {
		return proxmox.Machine{Type: "qemu", VMID: id, Node: "pve1", TagText: tags, Template: true, Status: "stopped"}
	}
	vm := template(9, "kubehenge;kubeadm-v1.36.3")
	vm.Template = false
	mute := vm
	mute.Status = "unknown"
	good := template(1, "kubeadm-v1.36.3;kubehenge")
	for _, c := range []struct {
		sentence string
		state    state
		placing  bool
		list     []proxmox.Machine
		problem  string
	}{
		{"one template with both tags is enough", up, true, []proxmox.Machine{good}, ""},
		{"a clone has the tags too and is none", up, true, []proxmox.Machine{good, vm}, ""},
		{"case does not matter to capmox", up, true, []proxmox.Machine{template(1, "KubeHenge;Kubeadm-V1.36.3")}, ""},
		{"without one the versions are named that there are", up, true, []proxmox.Machine{template(1, "kubehenge;kubeadm-v1.36.10"), template(2, "kubehenge;kubeadm-v1.36.9")},
			"No VM template carries the tags kubehenge and kubeadm-v1.36.3; there are templates of v1.36.9 and v1.36.10"},
		{"with none at all that is said", up, true, []proxmox.Machine{vm},
			"No VM template carries the tags kubehenge and kubeadm-v1.36.3; the agent's token sees no other with a version"},
		{"commas between tags are no separators for capmox", up, true, []proxmox.Machine{template(7, "kubehenge,kubeadm-v1.36.3")},
			`No VM template carries the tags kubehenge and kubeadm-v1.36.3 as capmox reads them: VM 7 has "kubehenge,kubeadm-v1.36.3", with another separator than a semicolon`},
		{"a template without our tag is named", up, true, []proxmox.Machine{template(7, "kubeadm-v1.36.3;web")},
			"No VM template carries the tags kubehenge and kubeadm-v1.36.3 as capmox reads them: VM 7 lacks the tag kubehenge"},
		{"two are one too many", up, true, []proxmox.Machine{good, template(2, "kubehenge;kubeadm-v1.36.3")},
			"2 VM templates carry the tags kubehenge and kubeadm-v1.36.3, VM 1, VM 2; capmox takes none of them until there is only one"},
		{"a template on a node that is away cannot be cloned", down, false, []proxmox.Machine{good},
			"The VM template of v1.36.3, VM 1, is on Proxmox VE node pve1, which is offline"},
		{"a short absence does not matter to a cluster that clones nothing", falling, false, []proxmox.Machine{good}, ""},
		{"but to one that is about to", falling, true, []proxmox.Machine{good},
			"The VM template of v1.36.3, VM 1, is on Proxmox VE node pve1, which is offline"},
		{"a node that has been away for long does not tell what is a template", down, true, []proxmox.Machine{mute},
			"The VM template of v1.36.3, VM 9, is on Proxmox VE node pve1, which does not report"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			for range 2 { // whatever the order of the list: another sentence would have Cluster API ask again and again
				l := newLook(proxmox.Resources{Nodes: []proxmox.Node{{Name: "pve1", Online: true}}, Machines: c.list}, history{}, noon)
				l.nodes[0].state = c.state
				if diff := cmp.Diff(c.problem, l.template(templateWish{prefix: "kubeadm-", version: "v1.36.3", placing: c.placing})); diff != "" {
					t.Error(diff)
				}
				slices.Reverse(c.list)
			}
		})
	}
}

func TestVersionsAreThoseWithOneTemplateByNumber(t *testing.T) {
	l := &look{}
	for i, tags := range []string{"kubehenge;kubeadm-v1.36.10", "kubehenge;kubeadm-v1.36.9", "kubehenge;kubeadm-v1.35.12", "kubehenge;kubeadm-v1.36.1", "kubehenge;kubeadm-v1.36.1", "kubeadm-v1.34.0", "kubehenge;cloud-image"} {
		l.templates = append(l.templates, proxmox.Machine{VMID: i, TagText: tags, Template: true})
	}
	if diff := cmp.Diff([]string{"v1.35.12", "v1.36.9", "v1.36.10"}, l.versions("kubeadm-")); diff != "" {
		t.Error(diff)
	}
}
