package capmox_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kdomanski/iso9660"
)

// The ISO that travelled in the first recorded scenario's replay.
func TestTheBootISOHasWhatTheGuestNeeds(t *testing.T) {
	p := play(t, "create-1")
	w := newWorld(t, "shop-cp-l5p4c-tcq66")
	w.connect(p.url(), secret, nil)
	w.run(clusterLooks(1), looks(6), assign("10.99.0.210"), looks(2))

	got := map[string]string{}
	image, err := iso9660.OpenImage(bytes.NewReader(p.iso))
	if err != nil {
		t.Fatal(err)
	}
	if label, err := image.Label(); err != nil || label != "cidata" {
		t.Errorf("label is %q, %v, want cidata", label, err)
	}
	root, err := image.RootDir()
	if err != nil {
		t.Fatal(err)
	}
	files, err := root.GetChildren()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		content, err := io.ReadAll(f.Reader())
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(content)
	}
	want := map[string]string{
		"user-data": "## template: jinja\n#cloud-config\n",
		"meta-data": `instance-id: ed4d9735-bd9f-4dfc-9e52-6356a9427dfe
local-hostname: shop-cp-l5p4c-tcq66
hostname: shop-cp-l5p4c-tcq66
kubernetes-version: v1.36.3
`,
		"network-config": `network:
  version: 2
  renderer: networkd
  ethernets:
    eth0:
      match:
        macaddress: BC:24:11:BF:65:84
      dhcp4: false
      dhcp6: false
      addresses:
        - '10.99.0.210/24'
      routes:
        - {"to": "0.0.0.0/0", "via": "10.99.0.1", "metric": 100}
      nameservers:
        addresses:
          - '10.99.0.1'
`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
