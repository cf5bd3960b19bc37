package fault

import (
	"fmt"
	"strings"
)

// EffectKind describes a kind of effect: its name, what stands behind the name, and what happens.
type EffectKind struct{ Name, Arguments, Means string }

// Effects are all kinds of effects.
var Effects = []EffectKind{
	{"node-off", "NODE", "the node loses its power, and its guests with it"},
	{"node-on", "NODE", "the node is back"},
	{"node-removed", "NODE", "a node that is off leaves the cluster for good, and its guests with it"},
	{"maintenance-on", "NODE", "the node is asked to run no HA services"},
	{"maintenance-off", "NODE", "the node runs HA services again"},
	{"quorum-lost", "", "all nodes but the one that answers are off"},
	{"quorum-back", "", "all nodes are on"},
	{"ha-move", "VMID NODE", "the guest is on another node at once, as after a recovery"},
	{"storage-full", "STORAGE", "nothing more fits on the storage"},
	{"storage-free", "STORAGE", "the storage has room again"},
	{"guest-gone", "VMID", "the guest is deleted behind everybody's back; so a template may be gone"},
	{"guest-lock", "VMID LOCK", "the guest is locked, as during a backup"},
	{"guest-unlock", "VMID", "the guest's lock is gone"},
	{"token-revoked", "USER!TOKEN", "the API token is gone, with what was given to it"},
	{"user-disabled", "USER", "the user is switched off, and its tokens with it"},
	{"clock-jump", "DURATION", "the cluster's clock jumps, by 3h or back by -10m: tickets expire or are of the future"},
}

// Effect is a parsed effect.
type Effect struct {
	Kind      string
	Arguments []string
}

// ParseEffect reads an effect such as "ha-move 100 pve2".
func ParseEffect(text string) (Effect, error) {
	words := strings.Fields(text)
	var names []string
	for _, k := range Effects {
		names = append(names, k.Name)
		if len(words) == 0 || words[0] != k.Name {
			continue
		}
		if want := strings.Fields(k.Arguments); len(words)-1 != len(want) {
			return Effect{}, fmt.Errorf("effect %q: want %s", text, strings.TrimSpace(k.Name+" "+k.Arguments))
		}
		return Effect{words[0], words[1:]}, nil
	}
	return Effect{}, fmt.Errorf("effect %q is none of %s", text, strings.Join(names, ", "))
}
