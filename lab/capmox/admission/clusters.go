package admission

import (
	"errors"
	"net/netip"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// Clusters are the rules for ProxmoxClusters. Updates may drop the last range, as with capmox; its CRD forbids it.
var Clusters = Rules[*infrav1.ProxmoxCluster]{
	Create: func(c *infrav1.ProxmoxCluster) error { return checkNewCluster(&c.Spec, "ProxmoxCluster", c.Name) },
	Update: func(_, c *infrav1.ProxmoxCluster) error { return checkEndpoint(&c.Spec, "ProxmoxCluster", c.Name) },
}

// ClusterTemplates are the rules for ProxmoxClusterTemplates; they may change.
var ClusterTemplates = Rules[*infrav1.ProxmoxClusterTemplate]{
	Create: func(t *infrav1.ProxmoxClusterTemplate) error {
		return checkNewCluster(&t.Spec.Template.Spec, "ProxmoxClusterTemplate", t.Name)
	},
	Update: func(_, t *infrav1.ProxmoxClusterTemplate) error {
		return checkEndpoint(&t.Spec.Template.Spec, "ProxmoxClusterTemplate", t.Name)
	},
}

func checkNewCluster(spec *infrav1.ProxmoxClusterSpec, kind, name string) error {
	if spec.IPv4Config == nil && spec.IPv6Config == nil {
		return errors.New("proxmox cluster must define at least one IP pool config")
	}
	return checkEndpoint(spec, kind, name)
}

// checkEndpoint demands a host name, or an IP address that lies in no range.
func checkEndpoint(spec *infrav1.ProxmoxClusterSpec, kind, name string) error {
	host := spec.ControlPlaneEndpoint.Host
	if ptr.Deref(spec.ExternalManagedControlPlane, false) || hostName.MatchString(host) {
		return nil
	}
	endpoint, err := netip.ParseAddr(host)
	if err != nil {
		return invalid(kind, name, field.Invalid(field.NewPath("spec", "controlplaneEndpoint"), host,
			"provided endpoint address is not a valid IP or FQDN"))
	}
	for _, r := range []struct {
		field  string
		config *infrav1.IPConfigSpec
	}{{"IPv4Config", spec.IPv4Config}, {"IPv6Config", spec.IPv6Config}} {
		if r.config == nil {
			continue
		}
		path := field.NewPath("spec", r.field, "addresses")
		inside, err := contains(r.config.Addresses, endpoint)
		if err != nil {
			return invalid(kind, name, field.Invalid(path, r.config.Addresses, "provided addresses are not valid IP addresses, ranges or CIDRs"))
		}
		if inside {
			return invalid(kind, name, field.Invalid(path, r.config.Addresses, "addresses may not contain the endpoint IP"))
		}
	}
	return nil
}

// contains reads every entry before it answers, so that a broken one is always told.
func contains(entries []string, ip netip.Addr) (bool, error) {
	inside := false
	for _, e := range entries {
		in, err := entryContains(e, ip)
		if err != nil {
			return false, err
		}
		inside = inside || in
	}
	return inside, nil
}

func entryContains(entry string, ip netip.Addr) (bool, error) {
	if from, to, isRange := strings.Cut(entry, "-"); isRange {
		first, err1 := netip.ParseAddr(from)
		last, err2 := netip.ParseAddr(to)
		if err := errors.Join(err1, err2); err != nil {
			return false, err
		}
		if first.BitLen() != last.BitLen() || last.Less(first) {
			return false, errors.New("not a range")
		}
		return ip.BitLen() == first.BitLen() && !ip.Less(first) && !last.Less(ip), nil
	}
	if strings.Contains(entry, "/") {
		network, err := netip.ParsePrefix(entry)
		return err == nil && network.Contains(ip), err
	}
	single, err := netip.ParseAddr(entry)
	return err == nil && single == ip, err
}

// hostName takes a single label, or a name whose last label has no digit (so that no IPv4 address passes).
var hostName = regexp.MustCompile(`(?i)^(` +
	`[a-z0-9]([a-z0-9-]{0,251}[a-z0-9])?|` +
	`([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$`)

func invalid(kind, name string, errs ...*field.Error) error {
	return apierrors.NewInvalid(infrav1.GroupVersion.WithKind(kind).GroupKind(), name, errs)
}
