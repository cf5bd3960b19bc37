package backup

import (
	"fmt"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// archiveName is the name of the file that a backup made now has.
func archiveName(s *core.State, g *core.Guest, compress string) string {
	ending := map[string]string{"qemu": "vma", "lxc": "tar"}[g.Kind] + map[string]string{"1": ".lzo", "lzo": ".lzo", "gzip": ".gz", "zstd": ".zst"}[compress]
	return fmt.Sprintf("vzdump-%s-%d-%s.%s", g.Kind, g.VMID, s.Now().UTC().Format("2006_01_02-15_04_05"), ending)
}

func notesOf(template string, g *core.Guest, cluster string) string {
	return strings.NewReplacer("{{guestname}}", g.ShownName(), "{{vmid}}", core.Itoa(g.VMID), "{{node}}", g.Node, "{{cluster}}", cluster, `\n`, "\n", `\\`, `\`).Replace(template)
}

// confText is the configuration of a guest as its backup holds it; parseConf reads it again.
func confText(g *core.Guest) string {
	var b strings.Builder
	for _, line := range strings.Split(g.Conf["description"], "\n") {
		if line != "" {
			b.WriteString("#" + line + "\n")
		}
	}
	for _, k := range core.SortedKeys(g.Conf) {
		if k != "description" && k != "lock" && k != "parent" && !guestconf.UnusedName.MatchString(k) {
			b.WriteString(k + ": " + g.Conf[k] + "\n")
		}
	}
	return b.String()
}

func parseConf(text string) map[string]string {
	conf := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if comment, is := strings.CutPrefix(line, "#"); is {
			conf["description"] += comment + "\n"
			continue
		}
		if k, v, ok := strings.Cut(line, ": "); ok {
			conf[k] = v
		}
	}
	return conf
}

// Archive is the backup with this volume ID, which the caller may read.
func Archive(c *core.Call, id string) (*core.Volume, *core.VolumeName, error) {
	name, rest := core.SplitVolume(id)
	st, err := c.State.StorageOn(c.Node(), name)
	if err != nil {
		return nil, nil, err
	}
	p, err := st.ParseVolume(rest)
	if err != nil {
		return nil, nil, err
	}
	if p.Content != "backup" {
		return nil, nil, core.Fail("unable to use volume '%s' as backup", id)
	}
	if err := storage.MayUse(c, st, p, 0); err != nil {
		return nil, nil, err
	}
	return c.State.Volume(c.Node(), id), p, nil
}

func extractConfig(c *core.Call) (any, error) {
	v, _, err := Archive(c, c.Text("volume"))
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, core.Fail("no such volume '%s'", c.Text("volume"))
	}
	return string(v.Data), nil
}
