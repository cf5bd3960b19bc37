package cluster

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// datacenterOptions are the options of the whole cluster that may be set.
const datacenterOptions = `bwlimit bwlimit; consent-text string(..65536); console enum(applet vv html5 xtermjs); crs crs; description string(..65536); email_from email-opt;
fencing enum(watchdog hardware both); ha ha-options; http_proxy string(/http:\/\/.*/); keyboard ` + guestconf.Keyboards + `;
language enum(ar ca da de en es eu fa fr hr he it ja ka kr nb nl nn pl pt_BR ru sl sv tr ukr zh_CN zh_TW); location string; mac_prefix mac-prefix; max_workers int(1..);
migration migration; migration_unsecure bool; next-id next-id; notify notify; registered-tags string(/(?:(?i:[a-z0-9_][a-z0-9_+.-]*);)*(?i:[a-z0-9_][a-z0-9_+.-]*)/);
replication migration; tag-style tag-style; u2f u2f; user-tag-access user-tag-access; webauthn webauthn`

// objectOptions are read back as objects.
var objectOptions = map[string]bool{"migration": true, "ha": true, "next-id": true, "tag-style": true, "user-tag-access": true, "webauthn": true, "crs": true, "notify": true, "replication": true, "u2f": true}

func readOptions(c *core.Call) (any, error) {
	s := c.State
	data := core.Row{"allowed-tags": schema.SplitList(s.Options["registered-tags"])}
	full := c.May("/", "Sys.Audit")
	if full {
		data["mac_prefix"], data["description"] = "BC:24:11", ""
	}
	for k, v := range s.Options {
		switch {
		case !full && k != "console" && k != "tag-style":
		case objectOptions[k]:
			data[k] = core.ObjectOf(v)
		case k == "registered-tags":
			data[k] = schema.SplitList(v)
		default:
			data[k] = v
		}
	}
	return data, nil
}

func updateOptions(c *core.Call) (any, error) {
	for _, k := range c.List("delete") {
		delete(c.State.Options, k)
	}
	for k := range c.Params {
		if k != "delete" {
			c.State.Options[k] = c.Text(k)
		}
	}
	return nil, nil
}
