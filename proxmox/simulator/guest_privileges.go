package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// target is the guest whose configuration a call sets: its ID and, when it is made, the pool it goes into.
type target struct {
	vmid   int
	pool   string
	create bool
}

// checkVM asks for a privilege on the guest, which the pool that it goes into may give as well.
func (c *call) checkVM(t target, privileges string) error {
	if t.pool != "" && c.may("/pool/"+t.pool, privileges) {
		return nil
	}
	return c.check("/vms/"+itoa(t.vmid), privileges)
}

// checkBridge asks for the use of the bridges that a network card is attached to: with VLANs, of each of these.
func (c *call) checkBridge(value string) error {
	return c.checkBridgeOf(guestconf.FormatOf("net0"), value)
}

func (c *call) checkBridgeOf(format *schema.Schema, value string) error {
	card, err := format.ParseProperties("net", value)
	if err != nil {
		return err
	}
	bridge, ok := card.Get("bridge")
	if !ok {
		return nil
	}
	at := "/sdn/zones/" + c.s.zoneOf(bridge) + "/" + bridge
	var tags []string
	if tag, ok := card.Get("tag"); ok {
		tags = append(tags, tag)
	}
	if trunks, ok := card.Get("trunks"); ok {
		tags = append(tags, vlans(trunks)...)
	}
	if len(tags) == 0 {
		return c.check(at, "SDN.Use")
	}
	for _, tag := range tags {
		if err := c.check(at+"/"+tag, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// vlans lists the VLANs of a trunk such as 2;10-12.
func vlans(trunks string) []string {
	var list []string
	for _, part := range strings.Split(trunks, ";") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		for v := atoi64(from); v <= min(atoi64(to), 4094); v++ {
			list = append(list, itoa(int(v)))
		}
	}
	return list
}

// checkTags asks for the change of tags: those that are registered, or not for everybody, are the administrator's.
func (c *call) checkTags(t target, old, now []string) error {
	if err := c.checkVM(t, "VM.Config.Options"); err != nil {
		return err
	}
	registered := guestconf.TagList(c.s.options["registered-tags"])
	free := !strings.Contains(c.s.options["user-tag-access"], "user-allow=") || strings.Contains(c.s.options["user-tag-access"], "user-allow=free")
	for _, tag := range changedTags(old, now) {
		if (slices.Contains(registered, tag) || !free) && !c.may("/", "Sys.Modify") {
			return denied("/, Sys.Modify for modifying tag '" + tag + "'")
		}
	}
	return nil
}

func changedTags(old, now []string) []string {
	var changed []string
	for _, t := range append(slices.Clone(old), now...) {
		if slices.Contains(old, t) != slices.Contains(now, t) && !slices.Contains(changed, t) {
			changed = append(changed, t)
		}
	}
	return changed
}
