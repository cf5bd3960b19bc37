package seed_test

import (
	"net/netip"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/lab/capmox/seed"
)

func gateway(via string, metric *int32) seed.Gateway {
	return seed.Gateway{Via: netip.MustParseAddr(via), Metric: metric}
}

func TestNetworkConfigIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		cards []seed.Card
		want  string
	}{
		"without cards":                      {nil, "network config data is not set"},
		"without a gateway":                  {[]seed.Card{{Name: "eth0"}}, "gateway is not set"},
		"with two gateways alike":            {[]seed.Card{{Name: "eth0", Gateways: []seed.Gateway{gateway("10.0.0.1", ptr.To[int32](100))}}, {Name: "eth1", Gateways: []seed.Gateway{gateway("10.1.0.1", ptr.To[int32](100))}}}, "route already exists"},
		"with two gateways alike, no metric": {[]seed.Card{{Name: "eth0", Gateways: []seed.Gateway{gateway("10.0.0.1", nil), gateway("10.0.0.2", ptr.To[int32](0))}}}, "route already exists"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := seed.NetworkConfig(c.cards); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestNetworkConfigOfTwoFamiliesIsYAML(t *testing.T) {
	text, err := seed.NetworkConfig([]seed.Card{{
		Name: "eth0", MAC: "BC:24:11:00:00:01",
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.5/24"), netip.MustParsePrefix("fd00::5/64")},
		Gateways:  []seed.Gateway{gateway("10.0.0.1", ptr.To[int32](100)), gateway("fd00::1", ptr.To[int32](100))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Network struct {
			Ethernets map[string]struct {
				Addresses []string
				Routes    []struct{ To, Via string }
			}
		}
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	eth0 := got.Network.Ethernets["eth0"]
	if len(eth0.Addresses) != 2 || len(eth0.Routes) != 2 || eth0.Routes[1].To != "::/0" || eth0.Routes[1].Via != "fd00::1" {
		t.Errorf("read back as %+v", eth0)
	}
}

func TestMetaData(t *testing.T) {
	got, err := seed.MetaData(seed.Identity{InstanceID: "id", Hostname: "shop-1", ProviderID: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := "instance-id: id\nlocal-hostname: shop-1\nhostname: shop-1\nprovider-id: proxmox://id\n"; string(got) != want {
		t.Errorf("meta-data is %q, want %q", got, want)
	}
	for name, id := range map[string]seed.Identity{"no instance": {Hostname: "a"}, "no host name": {InstanceID: "a"}} {
		if _, err := seed.MetaData(id); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
