package ha

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

// Topic is the board's topic of HA.
const Topic = "ha"

// remark is a named thing that may be said of a cluster.
type remark struct {
	name string
	// says is the sentence; empty when there is nothing to say.
	says func(*Keeper, *look, error) string
}

// remarks are asked in this order; the first that says something is told.
var remarks = []remark{
	{"a machine is held until the provider sees its VM", func(_ *Keeper, l *look, _ error) string {
		return l.first(func(m *machines.Machine) string {
			if m.Staying() || !m.Hooked || l.away(m) == "" {
				return ""
			}
			return fmt.Sprintf("%s is held until the provider has seen that its VM is on node %s now", m.Name, l.away(m))
		})
	}},
	{"a machine is held since HA cannot be asked", func(k *Keeper, l *look, _ error) string {
		return l.first(func(m *machines.Machine) string {
			if m.Staying() || m.Hook != inHA || k.HA != nil {
				return ""
			}
			return m.Name + " is held until its VM is out of Proxmox VE's HA, for which the agent has no token: " + giveToken
		})
	}},
	{"HA cannot be kept", func(_ *Keeper, _ *look, err error) string { return explain(err) }},
	{"there is no token for HA", func(k *Keeper, l *look, _ error) string {
		if !l.on || k.HA != nil || l.Leaving() {
			return ""
		}
		return "The Fleet switches HA on, for which the agent has no token: " + giveToken
	}},
	{"a VM in HA is switched off", func(_ *Keeper, l *look, _ error) string {
		return l.first(func(m *machines.Machine) string {
			r, in := l.manager.resources[sid(m.VM.ID)]
			if !in || !m.Staying() || r.State == "started" || r.State == "ignored" {
				return ""
			}
			return fmt.Sprintf("VM %d (%s) stays off, since Proxmox VE's HA has it as %s: start it there", m.VM.ID, m.VM.Name, r.State)
		})
	}},
}

const giveToken = "start it with --proxmox-ha-token-id and --proxmox-ha-token-file"

func (l *look) first(says func(*machines.Machine) string) string {
	for _, m := range l.Machines {
		if s := says(m); s != "" {
			return s
		}
	}
	return ""
}

// explain says what an error of Proxmox VE's means for HA. Others are the management cluster's, and pass.
func explain(err error) string {
	var e *proxmox.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Kind {
	case proxmox.Forbidden, proxmox.Unauthorized:
		return "Proxmox VE refuses the token for HA: " + e.Reason
	case proxmox.Transient, proxmox.NodeOffline, proxmox.Unreadable:
		return "Proxmox VE's HA manager cannot be asked: " + e.Reason
	}
	return "Proxmox VE's HA manager refuses what the cluster needs: " + e.Reason
}

func (k *Keeper) say(l *look, failure error) {
	for _, r := range remarks {
		if s := r.says(k, l, failure); s != "" {
			if k.told == nil {
				k.told = map[types.NamespacedName]bool{}
			}
			k.told[l.Key] = true
			k.Board.Say(l.Key, Topic, status.Notice{Kind: status.Waiting, Sentence: s, Since: k.Clock.Now()})
			return
		}
	}
	k.clear(l.Key)
}

func (k *Keeper) clear(key types.NamespacedName) {
	k.Board.Clear(key, Topic)
	delete(k.told, key)
}
