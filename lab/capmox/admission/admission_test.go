package admission_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"kubehenge.dev/lab/capmox/admission"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

func spec(endpoint string, addresses ...string) infrav1.ProxmoxClusterSpec {
	s := infrav1.ProxmoxClusterSpec{ControlPlaneEndpoint: infrav1.APIEndpoint{Host: endpoint, Port: 6443}}
	if len(addresses) > 0 {
		s.IPv4Config = &infrav1.IPConfigSpec{Addresses: addresses, Prefix: 24, Gateway: "10.99.0.1"}
	}
	return s
}

// same fails unless err is nil, or contains want.
func same(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error is %v, want one with %q", err, want)
	}
}

func TestClusters(t *testing.T) {
	const noEndpoint, inside, broken = "provided endpoint address is not a valid IP or FQDN", "addresses may not contain the endpoint IP",
		"provided addresses are not valid IP addresses, ranges or CIDRs"
	outside := spec("10.99.0.200", "10.99.0.210-10.99.0.219", "10.99.1.0/24", "10.99.2.1")
	for name, c := range map[string]struct {
		spec infrav1.ProxmoxClusterSpec
		want string
	}{
		"an endpoint outside all ranges":             {outside, ""},
		"a host name":                                {spec("placeholder.invalid", "192.0.2.1"), ""},
		"a name of one label":                        {spec("api", "192.0.2.1"), ""},
		"no range at all":                            {spec("10.99.0.200"), "proxmox cluster must define at least one IP pool config"},
		"no endpoint":                                {spec("", "192.0.2.1"), noEndpoint},
		"an endpoint that is neither IP nor name":    {spec("10.99.0.", "192.0.2.1"), noEndpoint},
		"an endpoint inside a range":                 {spec("10.99.0.219", "10.99.0.210-10.99.0.219"), inside},
		"an endpoint inside a network":               {spec("10.99.1.7", "10.99.1.0/24"), inside},
		"an endpoint that is one of the addresses":   {spec("10.99.2.1", "10.99.2.2", "10.99.2.1"), inside},
		"a range backwards":                          {spec("10.99.0.200", "10.99.0.219-10.99.0.210"), broken},
		"a range of words":                           {spec("10.99.0.200", "a-b"), broken},
		"a broken address after the one that is hit": {spec("10.99.2.1", "10.99.2.1", "10.99.2.999"), broken},
		"a network of words":                         {spec("10.99.0.200", "a/b"), broken},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			_, err := admission.Clusters.ValidateCreate(ctx, &infrav1.ProxmoxCluster{Spec: c.spec})
			same(t, err, c.want)
			template := &infrav1.ProxmoxClusterTemplate{}
			template.Spec.Template.Spec = c.spec
			_, err = admission.ClusterTemplates.ValidateCreate(ctx, template)
			same(t, err, c.want)
			if c.spec.IPv4Config == nil {
				return
			}
			_, err = admission.Clusters.ValidateUpdate(ctx, &infrav1.ProxmoxCluster{Spec: outside}, &infrav1.ProxmoxCluster{Spec: c.spec})
			same(t, err, c.want)
			_, err = admission.ClusterTemplates.ValidateUpdate(ctx, &infrav1.ProxmoxClusterTemplate{}, template)
			same(t, err, c.want)
		})
	}
}

func TestAnEndpointFromOutsideIsNotChecked(t *testing.T) {
	s := spec("", "192.0.2.1")
	s.ExternalManagedControlPlane = ptr.To(true)
	_, err := admission.Clusters.ValidateCreate(context.Background(), &infrav1.ProxmoxCluster{Spec: s})
	same(t, err, "")
}

func machine(cards ...infrav1.NetworkDevice) *infrav1.ProxmoxMachine {
	return &infrav1.ProxmoxMachine{Spec: infrav1.ProxmoxMachineSpec{Network: &infrav1.NetworkSpec{NetworkDevices: cards}}}
}

func TestMachines(t *testing.T) {
	card := func(name string, v4, v6 bool, mtu *int32) infrav1.NetworkDevice {
		return infrav1.NetworkDevice{Name: name, DefaultIPv4: ptr.To(v4), DefaultIPv6: ptr.To(v6), MTU: mtu}
	}
	for name, c := range map[string]struct {
		machine *infrav1.ProxmoxMachine
		want    string
	}{
		"one card":                          {machine(card("net0", true, true, nil)), ""},
		"two cards in the wrong order":      {machine(card("net1", false, false, nil), card("net0", true, true, nil)), ""},
		"a gap in the names":                {machine(card("net0", true, true, nil), card("net2", false, false, nil)), "Non-consecutive proxmox interface name"},
		"two cards with the IPv4 default":   {machine(card("net0", true, true, nil), card("net1", true, false, nil)), "More than one default IPv4/IPv6 interface"},
		"two cards with the IPv6 default":   {machine(card("net0", true, true, nil), card("net1", false, true, nil)), "More than one default IPv4/IPv6 interface"},
		"an MTU too small for IPv6":         {machine(card("net0", true, true, ptr.To[int32](1279))), "mtu must be at least 1280 or 1, but was 1279"},
		"an MTU just big enough":            {machine(card("net0", true, true, ptr.To[int32](1280))), ""},
		"the bridge's MTU, written as 1":    {machine(card("net0", true, true, ptr.To[int32](1))), ""},
		"no network, which the CRD forbids": {&infrav1.ProxmoxMachine{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := admission.Machines.ValidateCreate(context.Background(), c.machine)
			same(t, err, c.want)
			_, err = admission.Machines.ValidateUpdate(context.Background(), c.machine, c.machine)
			same(t, err, c.want)
		})
	}
}

func TestTagsOfAMachineStay(t *testing.T) {
	old, changed := machine(), machine()
	old.Spec.Tags, changed.Spec.Tags = []string{"a"}, []string{"a", "b"}
	_, err := admission.Machines.ValidateUpdate(context.Background(), old, changed)
	same(t, err, "tags are immutable")
}

func TestTheFirstCardTakesTheClustersAddressesOfAFamilyThatNoCardAsksFor(t *testing.T) {
	got := machine(infrav1.NetworkDevice{Name: "net0"}, infrav1.NetworkDevice{Name: "net1", DefaultIPv4: ptr.To(true)})
	if err := admission.Machines.Default(context.Background(), got); err != nil {
		t.Fatal(err)
	}
	want := machine(infrav1.NetworkDevice{Name: "net0", DefaultIPv6: ptr.To(true)}, infrav1.NetworkDevice{Name: "net1", DefaultIPv4: ptr.To(true)})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATemplateCannotChange(t *testing.T) {
	old := &infrav1.ProxmoxMachineTemplate{}
	old.Spec.Template.Spec.NumCores = ptr.To[int32](1)
	same2 := old.DeepCopy()
	same2.Labels = map[string]string{"a": "b"}
	changed := old.DeepCopy()
	changed.Spec.Template.Spec.NumCores = ptr.To[int32](2)
	// Cluster API's dry runs carry this annotation. capmox as released does not look at it.
	dryRun := changed.DeepCopy()
	dryRun.Annotations = map[string]string{"topology.cluster.x-k8s.io/dry-run": ""}
	for name, c := range map[string]struct {
		template *infrav1.ProxmoxMachineTemplate
		want     string
	}{
		"labels may":                     {same2, ""},
		"the spec may not":               {changed, "ProxmoxMachineTemplate is immutable"},
		"not even in a topology dry run": {dryRun, "ProxmoxMachineTemplate is immutable"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := admission.MachineTemplates.ValidateUpdate(context.Background(), old, c.template)
			same(t, err, c.want)
		})
	}
}

func TestATemplateHasNoProviderID(t *testing.T) {
	template := &infrav1.ProxmoxMachineTemplate{}
	_, err := admission.MachineTemplates.ValidateCreate(context.Background(), template)
	same(t, err, "")
	template.Spec.Template.Spec.ProviderID = "proxmox://x"
	_, err = admission.MachineTemplates.ValidateCreate(context.Background(), template)
	same(t, err, "cannot be set in templates")
}
