package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
)

func TestChangesAreWhatDiffersFromTheTemplate(t *testing.T) {
	template := calls.Config{
		"cores": "1", "memory": "512", "tags": "kubeadm-v1.36.3;kubehenge", "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=40",
	}
	card := func(change func(*infrav1.NetworkDevice)) infrav1.ProxmoxMachineSpec {
		c := infrav1.NetworkDevice{Name: "net0", Bridge: ptr.To("vmbr0"), Model: ptr.To("virtio")}
		change(&c)
		return infrav1.ProxmoxMachineSpec{Network: &infrav1.NetworkSpec{NetworkDevices: []infrav1.NetworkDevice{c}}}
	}
	same := func(*infrav1.NetworkDevice) {}
	sized := card(same)
	sized.NumSockets, sized.NumCores, sized.MemoryMiB = ptr.To[int32](1), ptr.To[int32](1), ptr.To[int32](1024)
	noted := card(same)
	noted.Description = ptr.To("a note")
	tagged := card(same)
	tagged.Tags = []string{"kubehenge", "team-a.shop", "team-a.shop"}
	for name, c := range map[string]struct {
		spec   infrav1.ProxmoxMachineSpec
		config calls.Config
		want   map[string]any
	}{
		"nothing": {card(same), template, map[string]any{}},
		"memory, and sockets that the template leaves out": {sized, template, map[string]any{"memory": int32(1024), "sockets": int32(1)}},
		"notes":                               {noted, template, map[string]any{"description": "a note"}},
		"tags, added to those that are there": {tagged, template, map[string]any{"tags": "kubeadm-v1.36.3;kubehenge;team-a.shop"}},
		"tags on a template without any":      {tagged, calls.Config{"net0": template["net0"]}, map[string]any{"tags": ";kubehenge;team-a.shop;team-a.shop"}},
		"another bridge":                      {card(func(c *infrav1.NetworkDevice) { c.Bridge = ptr.To("vmbr1") }), template, map[string]any{"net0": "virtio,bridge=vmbr1"}},
		"another model":                       {card(func(c *infrav1.NetworkDevice) { c.Model = ptr.To("e1000") }), template, map[string]any{"net0": "e1000,bridge=vmbr0"}},
		"the same VLAN":                       {card(func(c *infrav1.NetworkDevice) { c.VLAN = ptr.To[int32](40) }), template, map[string]any{}},
		"a VLAN, an MTU and queues": {card(func(c *infrav1.NetworkDevice) {
			c.VLAN, c.MTU, c.Queues = ptr.To[int32](41), ptr.To[int32](9000), ptr.To[int32](4)
		}), template, map[string]any{"net0": "virtio,bridge=vmbr0,mtu=9000,tag=41,queues=4"}},
		"a card the template lacks": {card(same), calls.Config{}, map[string]any{"net0": "virtio,bridge=vmbr0"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scope{infraMachine: &infrav1.ProxmoxMachine{Spec: c.spec}, vm: &calls.VM{Config: c.config}}
			if diff := cmp.Diff(c.want, s.changes()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSMBIOSUUIDIsFoundAmongOtherOptions(t *testing.T) {
	const id = "ed4d9735-bd9f-4dfc-9e52-6356a9427dfe"
	for text, want := range map[string]string{
		"uuid=" + id: id,
		"base64=1,manufacturer=UHJveG1veA==,uuid=ED4D9735-BD9F-4DFC-9E52-6356A9427DFE": id,
		"family=uuid": "",
		"uuid=1234":   "",
		"":            "",
	} {
		if got := smbiosUUID(calls.Config{"smbios1": text}); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
}
