package guest

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// Target is the guest whose configuration a call sets: its ID and, when it is made, the pool it goes into.
type Target struct {
	VMID   int
	Pool   string
	Create bool
}

// CheckVM asks for a privilege on the guest, which the pool that it goes into may give as well.
func CheckVM(c *core.Call, t Target, privileges string) error {
	if t.Pool != "" && c.May("/pool/"+t.Pool, privileges) {
		return nil
	}
	return c.Check("/vms/"+core.Itoa(t.VMID), privileges)
}

// CheckBridge asks for the use of the bridges that a network card is attached to: with VLANs, of each of these.
func CheckBridge(c *core.Call, value string) error {
	return CheckBridgeOf(c, guestconf.FormatOf("net0"), value)
}

// CheckBridgeOf is CheckBridge for a network card of this format: those of containers have another.
func CheckBridgeOf(c *core.Call, format *schema.Schema, value string) error {
	card, err := format.ParseProperties("net", value)
	if err != nil {
		return err
	}
	bridge, ok := card.Get("bridge")
	if !ok {
		return nil
	}
	at := "/sdn/zones/" + c.State.ZoneOf(bridge) + "/" + bridge
	var tags []string
	if tag, ok := card.Get("tag"); ok {
		tags = append(tags, tag)
	}
	if trunks, ok := card.Get("trunks"); ok {
		tags = append(tags, vlans(trunks)...)
	}
	if len(tags) == 0 {
		return c.Check(at, "SDN.Use")
	}
	for _, tag := range tags {
		if err := c.Check(at+"/"+tag, "SDN.Use"); err != nil {
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
		for v := core.Atoi64(from); v <= min(core.Atoi64(to), 4094); v++ {
			list = append(list, core.Itoa(int(v)))
		}
	}
	return list
}

// CheckTags asks for the change of tags: those that are registered, or not for everybody, are the administrator's.
func CheckTags(c *core.Call, t Target, old, now []string) error {
	if err := CheckVM(c, t, "VM.Config.Options"); err != nil {
		return err
	}
	registered := guestconf.TagList(c.State.Options["registered-tags"])
	free := !strings.Contains(c.State.Options["user-tag-access"], "user-allow=") || strings.Contains(c.State.Options["user-tag-access"], "user-allow=free")
	for _, tag := range changedTags(old, now) {
		if (slices.Contains(registered, tag) || !free) && !c.May("/", "Sys.Modify") {
			return core.Denied("/, Sys.Modify for modifying tag '" + tag + "'")
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
