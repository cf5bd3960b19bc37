package admission

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// Machines are the rules for ProxmoxMachines.
var Machines = Rules[*infrav1.ProxmoxMachine]{
	Create: checkNetwork,
	Update: func(old, m *infrav1.ProxmoxMachine) error {
		if !slices.Equal(old.Spec.Tags, m.Spec.Tags) {
			return apierrors.NewBadRequest("tags are immutable")
		}
		return checkNetwork(m)
	},
	Fill: fillNetwork,
}

// MachineTemplates are the rules for ProxmoxMachineTemplates. Cluster API's server-side-apply dry run of a changed
// template is refused like a real change (ionos-cloud/cluster-api-provider-proxmox issue 735): capmox has to be
// patched when it is installed.
var MachineTemplates = Rules[*infrav1.ProxmoxMachineTemplate]{
	Create: func(t *infrav1.ProxmoxMachineTemplate) error {
		if t.Spec.Template.Spec.ProviderID != "" {
			path := field.NewPath("spec", "template", "spec", "providerID")
			return invalid("ProxmoxMachineTemplate", t.Name, field.Forbidden(path, "cannot be set in templates"))
		}
		return nil
	},
	Update: func(old, t *infrav1.ProxmoxMachineTemplate) error {
		if !reflect.DeepEqual(old.Spec, t.Spec) {
			return invalid("ProxmoxMachineTemplate", t.Name, field.Forbidden(field.NewPath("spec"), "ProxmoxMachineTemplate is immutable"))
		}
		return nil
	},
}

// fillNetwork gives net0 the cluster's addresses of a family that no card asks for.
func fillNetwork(m *infrav1.ProxmoxMachine) {
	if m.Spec.Network == nil || len(m.Spec.Network.NetworkDevices) == 0 {
		return
	}
	cards := m.Spec.Network.NetworkDevices
	if !slices.ContainsFunc(cards, func(c infrav1.NetworkDevice) bool { return ptr.Deref(c.DefaultIPv4, false) }) {
		cards[0].DefaultIPv4 = ptr.To(true)
	}
	if !slices.ContainsFunc(cards, func(c infrav1.NetworkDevice) bool { return ptr.Deref(c.DefaultIPv6, false) }) {
		cards[0].DefaultIPv6 = ptr.To(true)
	}
}

// checkNetwork demands cards named net0, net1, ... without a gap, at most one default a family, and MTUs that IPv6 can live with.
func checkNetwork(m *infrav1.ProxmoxMachine) error {
	if m.Spec.Network == nil {
		return nil
	}
	cards := slices.Clone(m.Spec.Network.NetworkDevices)
	slices.SortFunc(cards, func(a, b infrav1.NetworkDevice) int { return strings.Compare(a.Name, b.Name) })
	v4, v6 := 0, 0
	for i, c := range cards {
		path := field.NewPath("spec", "network", "networkDevices", fmt.Sprint(i))
		if c.Name != fmt.Sprintf("net%d", i) {
			return invalid(infrav1.ProxmoxMachineKind, m.Name, field.Invalid(path.Child("name"), c.Name, "Non-consecutive proxmox interface name"))
		}
		v4 += count(c.DefaultIPv4)
		v6 += count(c.DefaultIPv6)
		if v4 > 1 || v6 > 1 {
			return invalid(infrav1.ProxmoxMachineKind, m.Name, field.Invalid(path, c.Name, "More than one default IPv4/IPv6 interface in NetworkDevices"))
		}
		if mtu := ptr.Deref(c.MTU, 1); mtu != 1 && mtu < 1280 {
			return invalid(infrav1.ProxmoxMachineKind, m.Name, field.Invalid(path.Child("mtu"), mtu, fmt.Sprintf("mtu must be at least 1280 or 1, but was %d", mtu)))
		}
	}
	return nil
}

func count(b *bool) int {
	if ptr.Deref(b, false) {
		return 1
	}
	return 0
}
