package storage

import (
	"crypto/sha512"
	"encoding/hex"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
)

// appliance is a template of the catalogue. What is downloaded is a few made-up bytes.
type appliance struct{ name, os, version, headline, section string }

var appliances = []appliance{
	{"alpine-3.23-default_20260116_amd64.tar.xz", "alpine", "20260116", "LXC default image for alpine 3.23 (20260116)", "system"},
	{"debian-12-standard_12.12-1_amd64.tar.zst", "debian-12", "12.12-1", "Debian 12 Bookworm (standard)", "system"},
	{"debian-13-standard_13.1-2_amd64.tar.zst", "debian-13", "13.1-2", "Debian 13 Trixie (standard)", "system"},
	{"ubuntu-24.04-standard_24.04-2_amd64.tar.zst", "ubuntu-24.04", "24.04-2", "Ubuntu 24.04 Noble (standard)", "system"},
}

func (a appliance) data() []byte { return []byte("simulated template " + a.name + "\n") }

func (a appliance) row() core.Row {
	sum := sha512.Sum512(a.data())
	name, _, _ := strings.Cut(a.name, "_")
	return core.Row{"template": a.name, "package": name, "os": a.os, "version": a.version, "headline": a.headline, "section": a.section, "type": "lxc",
		"architecture": "amd64", "source": "http://download.proxmox.com/images", "location": "http://download.proxmox.com/images/" + a.section + "/" + a.name,
		"infopage": "https://pve.proxmox.com/wiki/Linux_Container", "maintainer": "Proxmox Support Team <support@proxmox.com>",
		"sha512sum": hex.EncodeToString(sum[:]), "description": a.headline + "\n"}
}

// applianceEndpoints are the catalogue of container templates. Source: pve-manager PVE/API2/Nodes.pm.
func applianceEndpoints() []*core.Endpoint {
	return []*core.Endpoint{
		core.On("GET /nodes/{node}/aplinfo", core.Anyone, "", listAppliances),
		core.On("POST /nodes/{node}/aplinfo", core.Need("/storage/{storage}", "Datastore.AllocateTemplate"), "storage* storage-id; template* string(..255)", fetchAppliance),
	}
}

func listAppliances(c *core.Call) (any, error) {
	rows := []any{}
	for _, a := range appliances {
		rows = append(rows, a.row())
	}
	return rows, nil
}

func fetchAppliance(c *core.Call) (any, error) {
	for _, a := range appliances {
		if a.name != c.Text("template") {
			continue
		}
		st, err := c.State.StorageOn(c.Node(), c.Text("storage"))
		if err != nil {
			return nil, err
		}
		if !st.Holds("vztmpl") {
			return nil, core.Fail("storage '%s' does not support templates", st.Name)
		}
		return c.Fork(c.Node(), "download", a.name, func(t *core.Task) error {
			id := st.Name + ":vztmpl/" + a.name
			if c.State.Volume(t.Node, id) != nil {
				t.Say("OK, got correct file already, no need to download")
				return nil
			}
			if err := t.Busy(); err != nil {
				return err
			}
			putFile(c.State, st, t.Node, id, "vztmpl", a.data())
			t.Say("download of '%s' to '%s' finished", a.row()["location"], id)
			return nil
		}), nil
	}
	return nil, core.Invalid("template", "no such template")
}
