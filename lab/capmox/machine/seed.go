package machine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/lab/capmox/addresses"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/seed"
)

// insertSeed makes the boot ISO and puts it into the VM. Almost any failure of that ends the machine for good.
func (s *scope) insertSeed(ctx context.Context) (bool, error) {
	if s.reason() != infrav1.WaitingForBootstrapDataReconciliationReason {
		return false, nil
	}
	if !s.everyCardHasMAC() {
		return true, nil
	}
	userData, format, err := s.bootstrapData(ctx)
	if err != nil {
		s.state(infrav1.CloningFailedReason, err.Error()) // capmox's reason for it; see create
		return false, err
	}
	cards, err := s.cards(ctx)
	if err != nil {
		s.state(infrav1.WaitingForBootstrapDataReconciliationReason, err.Error())
		return false, err
	}
	err = s.insert(ctx, userData, format, cards)
	switch {
	case errors.Is(err, calls.ErrUploadRefused):
		return false, err
	case err != nil:
		s.state(infrav1.VMProvisionFailedReason, err.Error())
		return false, fmt.Errorf("failed to inject bootstrap data: %w", err)
	}
	s.infraMachine.Status.BootstrapDataProvided = ptr.To(true)
	s.state(infrav1.WaitingForVMPowerUpReason, "")
	return false, nil
}

func (s *scope) insert(ctx context.Context, userData []byte, format string, cards []seed.Card) error {
	if format != "cloud-config" {
		return fmt.Errorf("bootstrap data format %q: the lab's capmox knows cloud-config only", format)
	}
	metaData, err := seed.MetaData(s.identity())
	if err != nil {
		return fmt.Errorf("unable to render metadata: %w", err)
	}
	network, err := seed.NetworkConfig(cards)
	if err != nil {
		return fmt.Errorf("unable to render network-config: %w", err)
	}
	iso, err := seed.ISO(seed.Files{UserData: userData, MetaData: metaData, NetworkConfig: network})
	if err == nil {
		err = s.proxmox.Insert(ctx, s.vm, iso)
	}
	if err != nil {
		return fmt.Errorf("unable to inject CloudInit ISO: %w", err)
	}
	return nil
}

func (s *scope) identity() seed.Identity {
	id := seed.Identity{
		InstanceID:        smbiosUUID(s.vm.Config),
		Hostname:          s.infraMachine.Name,
		KubernetesVersion: s.machine.Spec.Version,
	}
	if m := s.infraMachine.Spec.MetadataSettings; m != nil {
		id.ProviderID = ptr.Deref(m.ProviderIDInjection, false)
	}
	return id
}

// bootstrapData reads what the bootstrap provider wrote.
func (s *scope) bootstrapData(ctx context.Context) (value []byte, format string, err error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.infraMachine.Namespace, Name: *s.machine.Spec.Bootstrap.DataSecretName}
	if err := s.Client.Get(ctx, key, secret); err != nil {
		return nil, "", fmt.Errorf("failed to retrieve bootstrap data secret: %w", err)
	}
	value, ok := secret.Data["value"]
	if !ok {
		return nil, "", errors.New("error retrieving bootstrap data: secret `value` key is missing")
	}
	format = "cloud-config"
	if f, ok := secret.Data["format"]; ok {
		format = string(f)
	}
	return value, format, nil
}

// cards describes the network cards to the guest: eth0, eth1, ... in the spec's order.
func (s *scope) cards(ctx context.Context) ([]seed.Card, error) {
	all, complete, err := s.claimed(ctx)
	if err != nil {
		return nil, err
	}
	if !complete {
		return nil, nil // as capmox: without cards network-config is refused, and the machine fails for good
	}
	nets := s.vm.Config.Nets()
	var cards []seed.Card
	for i, device := range s.infraMachine.Spec.Network.NetworkDevices {
		c := seed.Card{Name: fmt.Sprintf("eth%d", i), MAC: parseCard(nets[device.Name]).mac, DNS: s.infraCluster.Spec.DNSServers}
		if c.MAC == "" {
			return nil, fmt.Errorf("unable to get network config data for device=%s: unable to extract mac address", device.Name)
		}
		for _, g := range all {
			if g.Device != device.Name {
				continue
			}
			if err := s.addAddress(ctx, &c, g); err != nil {
				return nil, fmt.Errorf("unable to get network config data for device=%s: %w", device.Name, err)
			}
		}
		cards = append(cards, c)
	}
	return cards, nil
}

func (s *scope) addAddress(ctx context.Context, c *seed.Card, g given) error {
	prefix, err := netip.ParsePrefix(fmt.Sprintf("%s/%d", g.Spec.Address, ptr.Deref(g.Spec.Prefix, 0)))
	if err != nil {
		return fmt.Errorf("error converting ip address spec to netip prefix: %w", err)
	}
	c.Addresses = append(c.Addresses, prefix)
	if g.Spec.Gateway == "" {
		return nil
	}
	via, err := netip.ParseAddr(g.Spec.Gateway)
	if err != nil {
		return fmt.Errorf("invalid gateway %q for ip %s: %w", g.Spec.Gateway, g.Name, err)
	}
	metric, err := addresses.Metric(ctx, s.Client, g.IPAddress)
	if err != nil {
		return err
	}
	c.Gateways = append(c.Gateways, seed.Gateway{Via: via, Metric: metric})
	return nil
}

func (s *scope) everyCardHasMAC() bool {
	nets := s.vm.Config.Nets()
	for _, net := range nets {
		if parseCard(net).mac == "" {
			return false
		}
	}
	return len(nets) > 0
}

// ejectSeed takes the ISO away once the Machine is available and has its Node.
func (s *scope) ejectSeed(ctx context.Context) (bool, error) {
	if !conditions.IsTrue(s.machine, clusterv1.AvailableCondition) || !s.machine.Status.NodeRef.IsDefined() {
		return false, nil
	}
	if err := s.proxmox.Eject(ctx, s.vm); err != nil {
		return false, fmt.Errorf("failed to unmount cloud-init iso for vm %s: %w", s.infraMachine.Name, err)
	}
	return false, nil
}
