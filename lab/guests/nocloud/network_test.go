package nocloud_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kubehenge.dev/lab/guests/nocloud"
)

// capmoxNetwork has the form of capmox's template (pkg/cloudinit/network.go).
const capmoxNetwork = `network:
  version: 2
  renderer: networkd
  ethernets:
    eth0:
      match:
        macaddress: BC:24:11:00:00:01
      dhcp4: false
      dhcp6: false
      addresses:
        - '127.10.41.1/22'
        - 'fd00::1/64'
      routes:
        - { "to": "0.0.0.0/0", "via": "127.10.40.1", }
      nameservers:
        addresses:
          - '127.10.40.1'
      mtu: 1500
`

func TestDecodeNetworkConfig(t *testing.T) {
	cases := map[string]struct {
		data string
		want []nocloud.Interface
		err  string
	}{
		"as capmox writes it": {data: capmoxNetwork, want: []nocloud.Interface{{
			Name: "eth0", MAC: "BC:24:11:00:00:01", MTU: 1500,
			Addresses: []netip.Prefix{netip.MustParsePrefix("127.10.41.1/22"), netip.MustParsePrefix("fd00::1/64")},
		}}},
		"without the outer key": {
			data: "version: 2\nethernets:\n  b: {addresses: [10.0.0.2/24]}\n  a: {}\n",
			want: []nocloud.Interface{{Name: "a"}, {Name: "b", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.2/24")}}},
		},
		"an empty version 1":           {data: "version: 1\nconfig: []\n"},
		"an address without a prefix":  {data: "version: 2\nethernets:\n  a: {addresses: [10.0.0.2]}\n", err: "a: netip.ParsePrefix"},
		"an unknown version":           {data: "version: 3\n", err: "version 3 is not known"},
		"nothing":                      {data: "", err: "version 0 is not known"},
		"something that is not a list": {data: "version: 2\nethernets: [1]\n", err: "decode network-config"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := nocloud.DecodeNetworkConfig([]byte(c.data))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfiguredTakesTheInterfacesWhoseCardIsThere(t *testing.T) {
	interfaces := []nocloud.Interface{{Name: "eth0", MAC: "bc:24:11:00:00:01"}, {Name: "eth1", MAC: "bc:24:11:00:00:02"}}
	got := nocloud.Configured(interfaces, []string{"BC:24:11:00:00:02"})
	if len(got) != 1 || got[0].Name != "eth1" {
		t.Errorf("got %v, want eth1 alone", got)
	}
}

func TestDecodeMetaData(t *testing.T) {
	cases := map[string]struct{ data, id, host, version, err string }{
		"as capmox writes it":  {data: "instance-id: 5f0c\nlocal-hostname: a\nhostname: a\nkubernetes-version: v1.36.3\n", id: "5f0c", host: "a", version: "v1.36.3"},
		"a number as ID":       {data: "instance-id: 100\n", id: "100"},
		"nested keys are left": {data: "instance-id: x\nnetwork: {a: b}\n", id: "x"},
		"no ID":                {data: "local-hostname: a\n", err: "instance-id is missing"},
		"empty":                {data: "", err: "instance-id is missing"},
		"broken":               {data: "a: [", err: "decode meta-data"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := nocloud.DecodeMetaData([]byte(c.data))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.InstanceID != c.id || got.LocalHostname != c.host || got.KubernetesVersion != c.version {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func FuzzDecodeNetworkConfig(f *testing.F) {
	f.Add([]byte(capmoxNetwork))
	f.Add([]byte("version: 1\nconfig: []\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		interfaces, err := nocloud.DecodeNetworkConfig(data)
		if err != nil && interfaces != nil {
			t.Errorf("interfaces %v with error %v", interfaces, err)
		}
		for _, i := range interfaces {
			for _, prefix := range i.Addresses {
				if !prefix.IsValid() {
					t.Errorf("address %v of %s is not valid", prefix, i.Name)
				}
			}
		}
	})
}

func FuzzDecodeMetaData(f *testing.F) {
	f.Add([]byte("instance-id: 5f0c\nlocal-hostname: a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := nocloud.DecodeMetaData(data)
		if err == nil && m.InstanceID == "" {
			t.Error("meta-data without an instance ID was accepted")
		}
	})
}
