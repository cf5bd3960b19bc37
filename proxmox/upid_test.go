package proxmox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const goodUPID = "UPID:pve1:000A1B2C:0123ABCD:665F0000:qmclone:9000:kubehenge-provider@pve!capmox:"

func TestParseUPID(t *testing.T) {
	u, err := ParseUPID(goodUPID)
	if err != nil {
		t.Fatal(err)
	}
	if u.Node != "pve1" || u.Type != "qmclone" || u.ID != "9000" || u.User != "kubehenge-provider@pve!capmox" || !u.Start.Equal(time.Unix(0x665F0000, 0)) || u.String() != goodUPID {
		t.Fatalf("got %+v", u)
	}
	for _, bad := range []string{"", "UPID", strings.TrimSuffix(goodUPID, ":"), "UPID:../..:000A1B2C:0123ABCD:665F0000:qmclone:9000:x@pve:", strings.Replace(goodUPID, "9000", "90/00", 1), goodUPID + "\n"} {
		if u, err := ParseUPID(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, u)
		}
	}
}

func FuzzParseUPID(f *testing.F) {
	f.Add(goodUPID)
	f.Add("UPID:pve1:000A1B2C:0123ABCD:665F0000:imgdel:100@local-lvm:root@pam:")
	f.Add("UPID:a:00000000:000000000:FFFFFFFF:t::u:")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := ParseUPID(raw)
		if err != nil {
			return
		}
		if u.String() != raw || u.Node == "" || strings.ContainsAny(u.Node+u.Type+u.ID+u.User, "/ \n\r:") {
			t.Fatalf("%q was read as %+v", raw, u)
		}
	})
}

func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"type":"qemu","vmid":"100","template":1,"tags":"a;b,c d","uptime":5}`))
	f.Add([]byte(`{"type":"lxc","vmid":100,"template":"0","tags":null}`))
	f.Add([]byte(`{"vmid":1e3,"template":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var row machineRow
		if json.Unmarshal(raw, &row) == nil {
			for _, tag := range row.machine().Tags {
				if tag == "" || strings.ContainsAny(tag, "; ,") {
					t.Fatalf("tag %q of %s", tag, raw)
				}
			}
		}
		var m member
		if json.Unmarshal(raw, &m) == nil {
			_ = m.member().String()
		}
		var config map[string]scalar
		if json.Unmarshal(raw, &config) == nil {
			c := MachineConfig{}
			for k, v := range config {
				c[k] = string(v)
			}
			_, _ = c.UUID(), c.Tags()
		}
	})
}

func TestPercent(t *testing.T) {
	for line, want := range map[string]float64{
		"transferred 1.0 GiB of 4.0 GiB (25.00%)": 25,
		"create full clone of drive scsi0":        -1,
		"999%":                                    -1,
		"100%":                                    100,
	} {
		if got := percent(line); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}
