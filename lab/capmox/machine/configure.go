package machine

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// configure sends what differs from the template. When nothing does, the state does not move on, and the
// machine is taken for ready.
func (s *scope) configure(ctx context.Context) (bool, error) {
	if s.reason() != infrav1.CloningReason || s.vm.Running() || s.provisioned() {
		return false, nil
	}
	options := s.changes()
	if len(options) == 0 {
		return false, nil
	}
	task, err := s.proxmox.Configure(ctx, s.vm, options)
	if err != nil {
		return false, fmt.Errorf("failed to configure VM %s: unable to configure vm: %w", s.infraMachine.Name, err)
	}
	s.follow(task)
	s.state(infrav1.WaitingForDiskReconciliationReason, "")
	return true, nil
}

// changes are the options to set.
func (s *scope) changes() map[string]any {
	spec, config := &s.infraMachine.Spec, s.vm.Config
	options := map[string]any{}
	for _, o := range []struct {
		name string
		want *int32
	}{{"sockets", spec.NumSockets}, {"cores", spec.NumCores}, {"memory", spec.MemoryMiB}} {
		if want := ptr.Deref(o.want, 0); want > 0 && config[o.name] != strconv.Itoa(int(want)) {
			options[o.name] = want
		}
	}
	if d := spec.Description; d != nil && config["description"] != *d {
		options["description"] = *d
	}
	if cards := spec.Network.NetworkDevices; anyCardDiffers(cards, config.Nets()) {
		for _, c := range cards {
			options[c.Name] = formatCard(c)
		}
	}
	if tags, more := addedTags(s.vm.Tags(), spec.Tags, config["tags"] == ""); more {
		options["tags"] = strings.Join(tags, ";")
	}
	return options
}

// addedTags appends the wanted tags that are missing. On a VM without tags nothing counts as there, and the
// list begins with an empty one (go-proxmox splits the empty text into one).
func addedTags(has, want []string, none bool) (all []string, more bool) {
	all = append(all, has...)
	seen := map[string]bool{}
	for _, t := range has {
		seen[t] = true
	}
	for _, t := range want {
		if none || !seen[t] {
			all, more = append(all, t), true
			seen[t] = true
		}
	}
	return all, more
}

func anyCardDiffers(cards []infrav1.NetworkDevice, nets map[string]string) bool {
	for _, c := range cards {
		if cardDiffers(c, nets[c.Name]) {
			return true
		}
	}
	return false
}

// cardDiffers compares only what the spec says.
func cardDiffers(c infrav1.NetworkDevice, net string) bool {
	if net == "" {
		return true
	}
	is := parseCard(net)
	if is.model != ptr.Deref(c.Model, "virtio") || is.options["bridge"] != ptr.Deref(c.Bridge, "") {
		return true
	}
	for _, o := range []struct {
		name string
		want *int32
	}{{"mtu", c.MTU}, {"tag", c.VLAN}, {"queues", c.Queues}} {
		if o.want != nil && is.options[o.name] != strconv.Itoa(int(*o.want)) {
			return true
		}
	}
	return false
}

// card is a network card as Proxmox VE writes it: virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=40.
type card struct {
	model, mac string
	options    map[string]string
}

func parseCard(net string) card {
	first, rest, _ := strings.Cut(net, ",")
	c := card{options: map[string]string{}}
	c.model, c.mac, _ = strings.Cut(first, "=")
	for o := range strings.SplitSeq(rest, ",") {
		k, v, _ := strings.Cut(o, "=")
		c.options[k] = v
	}
	return c
}

// formatCard leaves out the MAC address, so that Proxmox VE draws one.
func formatCard(c infrav1.NetworkDevice) string {
	parts := []string{ptr.Deref(c.Model, "virtio"), "bridge=" + ptr.Deref(c.Bridge, "")}
	for _, o := range []struct {
		name string
		want *int32
	}{{"mtu", c.MTU}, {"tag", c.VLAN}, {"queues", c.Queues}} {
		if o.want != nil {
			parts = append(parts, fmt.Sprintf("%s=%d", o.name, *o.want))
		}
	}
	return strings.Join(parts, ",")
}

// resize grows the boot volume; its task is not followed.
func (s *scope) resize(ctx context.Context) (bool, error) {
	if s.reason() != infrav1.WaitingForDiskReconciliationReason {
		return false, nil
	}
	if disks := s.infraMachine.Spec.Disks; disks != nil {
		if s.vm.Running() || s.provisioned() {
			return false, nil
		}
		if boot := disks.BootVolume; boot != nil {
			if err := s.proxmox.Resize(ctx, s.vm, boot.Disk, fmt.Sprintf("%dG", boot.SizeGB)); err != nil {
				return false, err
			}
		}
	}
	s.state(infrav1.WaitingForStaticIPAllocationReason, "")
	return false, nil
}
