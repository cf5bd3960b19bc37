package simulator

import (
	"fmt"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// archiveName is the name of the file that a backup made now has.
func (s *state) archiveName(g *guest, compress string) string {
	ending := map[string]string{"qemu": "vma", "lxc": "tar"}[g.kind] + map[string]string{"1": ".lzo", "lzo": ".lzo", "gzip": ".gz", "zstd": ".zst"}[compress]
	return fmt.Sprintf("vzdump-%s-%d-%s.%s", g.kind, g.vmid, s.now().UTC().Format("2006_01_02-15_04_05"), ending)
}

func notesOf(template string, g *guest, cluster string) string {
	return strings.NewReplacer("{{guestname}}", g.shownName(), "{{vmid}}", itoa(g.vmid), "{{node}}", g.node, "{{cluster}}", cluster, `\n`, "\n", `\\`, `\`).Replace(template)
}

// confText is the configuration of a guest as its backup holds it; parseConf reads it again.
func confText(g *guest) string {
	var b strings.Builder
	for _, line := range strings.Split(g.conf["description"], "\n") {
		if line != "" {
			b.WriteString("#" + line + "\n")
		}
	}
	for _, k := range sortedKeys(g.conf) {
		if k != "description" && k != "lock" && k != "parent" && !guestconf.UnusedName.MatchString(k) {
			b.WriteString(k + ": " + g.conf[k] + "\n")
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

// archive is the backup with this volume ID, which the caller may read.
func (c *call) archive(id string) (*volume, *parsed, error) {
	name, rest := splitVolume(id)
	st, err := c.s.storageOn(c.node(), name)
	if err != nil {
		return nil, nil, err
	}
	p, err := st.parseVolume(rest)
	if err != nil {
		return nil, nil, err
	}
	if p.content != "backup" {
		return nil, nil, fail("unable to use volume '%s' as backup", id)
	}
	if err := c.mayUse(st, p, 0); err != nil {
		return nil, nil, err
	}
	return c.s.volume(c.node(), id), p, nil
}

func (c *call) extractConfig() (any, error) {
	v, _, err := c.archive(c.text("volume"))
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, fail("no such volume '%s'", c.text("volume"))
	}
	return string(v.data), nil
}
