package kubelet

import (
	"context"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// addressOf finds an address for a pod: the machine's for those on its network, or else a free one of the node's range.
// Nothing answers there. Without a range it is made from the machine's own: 10.<third>.<fourth>.0/24 of 127.10.41.5.
func (k *Kubelet) addressOf(ctx context.Context, pod *corev1.Pod) string {
	if pod.Spec.HostNetwork {
		return k.options.Node.Address
	}
	prefix, err := netip.ParsePrefix(k.podCIDR(ctx))
	if err != nil {
		prefix = rangeOf(k.options.Node.Address)
	}
	taken := map[string]bool{}
	for _, t := range k.all() {
		taken[t.ip] = true
		taken[t.pod.Status.PodIP] = true
	}
	// A pod from before a restart keeps its address.
	if old, err := netip.ParseAddr(pod.Status.PodIP); err == nil && prefix.Contains(old) {
		return old.String()
	}
	// The first is the network's own, the second the bridge's.
	for a := prefix.Masked().Addr().Next().Next(); prefix.Contains(a); a = a.Next() {
		if !taken[a.String()] {
			return a.String()
		}
	}
	return ""
}

func rangeOf(address string) netip.Prefix {
	b := netip.MustParseAddr(address).As4()
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, b[2], b[3], 0}), 24)
}
