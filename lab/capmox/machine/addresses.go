package machine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/lab/capmox/addresses"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// given is an address with what it was wanted for.
type given struct {
	addresses.Wanted
	*ipamv1.IPAddress
}

// allocate claims the addresses, notes the IPv4 one in a tag, and publishes them.
func (s *scope) allocate(ctx context.Context) (bool, error) {
	if s.reason() != infrav1.WaitingForStaticIPAllocationReason {
		return false, nil
	}
	all, complete, err := s.claimed(ctx)
	if err != nil || !complete {
		return true, err
	}
	for _, g := range all {
		if err := s.tagAddress(ctx, g.Spec.Address); err != nil {
			return false, err
		}
	}
	s.publish(all)
	s.state(infrav1.WaitingForBootstrapDataReconciliationReason, "")
	return true, nil
}

// claimed returns the machine's addresses, claiming what is not claimed yet; complete says that all are there.
func (s *scope) claimed(ctx context.Context) (all []given, complete bool, err error) {
	wanted, err := addresses.WantedFor(s.infraCluster, s.infraMachine)
	if err != nil {
		return nil, false, fmt.Errorf("unable to handle network devices: %w", err)
	}
	complete = true
	for _, w := range wanted {
		address, err := addresses.Obtain(ctx, s.Client, s.infraCluster, s.infraMachine, w)
		var conflict *addresses.Conflict
		switch {
		case errors.As(err, &conflict):
			s.state(infrav1.WaitingForStaticIPAllocationReason, conflict.Message)
			complete = false
		case err != nil:
			return nil, false, fmt.Errorf("unable to handle network devices: unable to handle IPAddress for device %s, pool %s: %w", w.Device, w.Pool, err)
		case address == nil:
			complete = false
		default:
			all = append(all, given{w, address})
		}
	}
	return all, complete, nil
}

// tagAddress tags the VM with its IPv4 address.
func (s *scope) tagAddress(ctx context.Context, address string) error {
	tag := fmt.Sprintf("ip_%s_%s", infrav1.DefaultNetworkDevice, address)
	if !isIPv4(address) || s.vm.HasTag(tag) {
		return nil
	}
	task, err := s.proxmox.AddTag(ctx, s.vm, tag)
	if err != nil {
		return fmt.Errorf("unable to add IP tag to VirtualMachine %s: %w", s.infraMachine.Name, err)
	}
	s.follow(task)
	return nil
}

// publish writes the addresses by network card, those of the cluster's ranges once more as "default".
func (s *scope) publish(all []given) {
	const byDefault = "default"
	entries := []infrav1.IPAddressesSpec{{NetName: byDefault}}
	index := map[string]int{byDefault: 0}
	for _, g := range all {
		for _, name := range []string{byDefault, g.Device} {
			i, ok := index[name]
			if !ok {
				i = len(entries)
				index[name] = i
				entries = append(entries, infrav1.IPAddressesSpec{NetName: name})
			}
			if isIPv4(g.Spec.Address) {
				entries[i].IPv4 = append(entries[i].IPv4, g.Spec.Address)
			} else {
				entries[i].IPv6 = append(entries[i].IPv6, g.Spec.Address)
			}
		}
	}
	s.infraMachine.Status.IPAddresses = entries
}

// recover publishes the addresses of a running machine whose status was lost, from the claims that are there.
func (s *scope) recover(ctx context.Context) (bool, error) {
	if !s.vm.Running() || len(s.infraMachine.Status.IPAddresses) > 0 {
		return false, nil
	}
	wanted, err := addresses.WantedFor(s.infraCluster, s.infraMachine)
	if err != nil {
		return false, fmt.Errorf("resolving existing IPAddressClaims for status recovery: %w", err)
	}
	var all []given
	for _, w := range wanted {
		address, err := addresses.Find(ctx, s.Client, s.infraMachine, w)
		var conflict *addresses.Conflict
		if err != nil && !errors.As(err, &conflict) {
			return false, fmt.Errorf("resolving existing IPAddressClaims for status recovery: %w", err)
		}
		if address == nil {
			log.FromContext(ctx).V(4).Info("no address recovery: a claim is missing or not usable", "claim", w.ClaimName(s.infraMachine.Name))
			return false, nil
		}
		all = append(all, given{w, address})
	}
	if len(all) == 0 {
		return false, nil
	}
	s.publish(all)
	s.infraMachine.Status.Addresses = s.machineAddresses()
	return false, nil
}

// report tells Cluster API the machine's addresses; the VM has to run.
func (s *scope) report(context.Context) (bool, error) {
	if s.reason() != infrav1.WaitingForClusterAPIMachineAddressesReason {
		return false, nil
	}
	if !s.vm.Running() {
		return false, errors.New("unable to apply configuration as long as the virtual machine is not running")
	}
	if len(s.infraMachine.Status.IPAddresses) == 0 {
		return false, errors.New("Machine has no default IPAddresses") //nolint:staticcheck // capmox's text
	}
	s.infraMachine.Status.Addresses = s.machineAddresses()
	s.state(infrav1.WaitingForCloudInitReason, "")
	return false, nil
}

func (s *scope) machineAddresses() []clusterv1.MachineAddress {
	all := []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: s.infraMachine.Name}}
	for _, entry := range s.infraMachine.Status.IPAddresses {
		if entry.NetName != "default" {
			continue
		}
		for _, list := range [][]string{entry.IPv4, entry.IPv6} {
			for _, a := range list {
				all = append(all, clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: a})
			}
		}
	}
	return all
}

func isIPv4(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.Is4()
}
