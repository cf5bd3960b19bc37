package cluster

import (
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
)

// section is a part of the cluster's configuration that is only kept, for others to act on: named entries with options.
type section struct {
	path, id     string // where it is, and the parameter that names an entry
	kind         string // value of the option type, if entries show it
	create       string // parameters of creation alone
	fields       string // those that may be changed
	needed       string // those that an update asks for again, all the same
	read, write  core.Guard
	filter       string // parameters of the list
	inPath       bool   // an entry is created at its own path
	exists, none string // what is said of an entry that is there already, or is not; %s is its ID
	doing        string // what stands before errors of changes, with a %s for create, update or delete
	secret       string // options that are never shown
	digests      bool   // an entry that is read shows the digest of all
}

func sections() []section {
	audit, modify := core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Modify")
	reach := core.Either(core.All(audit, modify), core.Need("/", "Sys.AccessNetwork"))
	notify := core.All(core.Need("/mapping/notifications", "Mapping.Modify"), reach)
	seen := core.Need("/mapping/notifications", "Mapping.Modify|Mapping.Audit")
	const target = "/cluster/notifications/"
	const told = "comment string; disable bool;"
	const missing = "could not find '%s'"
	list := []section{
		{path: "/cluster/metrics/server", id: "id", create: "type* enum(graphite influxdb opentelemetry);", fields: metricFields, needed: "port* int(1..65536); server* address;", read: audit, write: modify,
			inPath: true, exists: "Metric server '%s' already exists", none: "status server entry '%s' does not exist", secret: "token", digests: true},
		{path: "/cluster/acme/plugins", id: "id", filter: "type enum(dns standalone)", create: "type* enum(dns standalone);", fields: "api string; data string; disable bool; nodes node-list; validation-delay int(0..172800)",
			read: modify, write: modify, exists: "ACME plugin ID '%s' already exists", none: "ACME plugin '%s' not defined", digests: true},
		{path: target + "endpoints/gotify", id: "name", fields: told + "server string; token string", needed: "", create: "server* string; token* string;", read: seen, write: notify, exists: "endpoint '%s' already exists", none: missing, secret: "token"},
		{path: target + "endpoints/sendmail", id: "name", fields: told + "author string; from-address string; mailto array; mailto-user array", read: seen, write: notify, exists: "endpoint '%s' already exists", none: missing},
		{path: target + "endpoints/smtp", id: "name", fields: told + "author string; from-address string; mailto array; mailto-user array; mode enum(insecure starttls tls); password string; port int; server string; username string",
			create: "from-address* string; server* string;", read: seen, write: notify, exists: "endpoint '%s' already exists", none: missing, secret: "password"},
		{path: target + "endpoints/webhook", id: "name", fields: told + "body string; header array; method enum(post put get); secret array; url string", create: "method* enum(post put get); url* string;", read: seen, write: notify,
			exists: "endpoint '%s' already exists", none: missing},
		{path: target + "matchers", id: "name", fields: told + "invert-match bool; match-calendar array; match-field array; match-severity array; mode enum(all any); target array", read: seen,
			write: core.Need("/mapping/notifications", "Mapping.Modify"), exists: "matcher '%s' already exists", none: missing},
	}
	for _, m := range []struct{ kind, word, fields string }{
		{"dir", "directory", "description string(..4096); map array"}, {"pci", "hardware", "description string(..4096); live-migration-capable bool; map array; mdev bool"},
		{"usb", "hardware", "description string(..4096); map array"},
	} {
		at := "/mapping/" + m.kind
		list = append(list, section{path: "/cluster/mapping/" + m.kind, id: "id", kind: m.kind, create: "map* array;", fields: m.fields, read: core.Need(at+"/{id}", "Mapping.Use|Mapping.Modify|Mapping.Audit"),
			write: core.Need(at, "Mapping.Modify"), exists: m.kind + " ID '%s' already defined", none: "mapping '%s' not found", doing: "%s " + m.word + " mapping failed", digests: true})
	}
	return list
}

const metricFields = `api-path-prefix string; bucket string; disable bool; influxdbproto enum(udp http https); max-body-size int(1..); mtu int(512..65536); organization string;
	otel-compression enum(none gzip); otel-headers string(..1024); otel-max-body-size int(1024..); otel-path string; otel-protocol enum(http https); otel-resource-attributes string(..1024);
	otel-timeout int(1..10); otel-verify-ssl bool; path string; port int(1..65536); proto enum(udp tcp); server address; timeout int(0..); token string; verify-certificate bool`

// sectionEndpoints are all of them. Source: pve-manager PVE/API2/Cluster/{Mapping,MetricServer,Notifications}.pm, PVE/API2/ACMEPlugin.pm.
func sectionEndpoints() []*core.Endpoint {
	list := []*core.Endpoint{
		core.On("GET /cluster/mapping", core.Anyone, "", core.Index("dir pci usb")),
		core.On("GET /cluster/metrics", core.Anyone, "", core.Index("server export")),
		core.On("GET /cluster/notifications", core.Anyone, "", core.Index("endpoints matchers targets matcher-fields matcher-field-values")),
		core.On("GET /cluster/notifications/endpoints", core.Anyone, "", core.Index("gotify sendmail smtp webhook")),
		core.On("GET /cluster/notifications/targets", core.Need("/mapping/notifications", "Mapping.Modify|Mapping.Audit|Mapping.Use"), "", notificationTargets),
		core.On("GET /cluster/acme", core.Anyone, "", core.Index("plugins account tos meta directories challenge-schema")),
	}
	for _, s := range sections() {
		list = append(list, s.endpoints()...)
	}
	return list
}

func (s section) endpoints() []*core.Endpoint {
	name, entry := s.id+"* configid;", s.path+"/{"+s.id+"}"
	remove := "delete configid-list(..4096);"
	if strings.Contains(s.path, "notifications") {
		remove = "delete array;"
	}
	made, fields := s.path, s.fields
	if s.inPath {
		made = entry
	}
	listed := s.read
	filter := s.filter
	if s.kind != "" {
		listed, filter = core.Anyone, "check-node node"
	}
	return []*core.Endpoint{
		core.On("GET "+s.path, listed, filter, s.list),
		core.On("POST "+made, s.write, fields+";"+name+s.needed+s.create, s.add),
		core.On("GET "+entry, s.read, name, s.show),
		core.On("PUT "+entry, s.write, fields+";"+name+s.needed+remove+"digest string(..64)", s.change),
		core.On("DELETE "+entry, s.write, name, s.drop),
	}
}

// entries are those of a section by their IDs.
func (s section) entries(c *core.Call) map[string]core.Row {
	if c.State.Sections[s.path] == nil {
		c.State.Sections[s.path] = map[string]core.Row{}
	}
	return c.State.Sections[s.path]
}

func (s section) digest(c *core.Call) string {
	var rows []map[string]string
	for _, id := range core.SortedKeys(s.entries(c)) {
		f := map[string]string{"id": id}
		for k, v := range s.entries(c)[id] {
			f[k] = fmt.Sprint(v)
		}
		rows = append(rows, f)
	}
	return firewall.ListDigest(rows)
}

// shown is an entry as the API shows it: with its name, without secrets.
func (s section) shown(id string, entry core.Row) core.Row {
	r := core.Row{s.id: id}
	for k, v := range entry {
		if !slices.Contains(strings.Fields(s.secret), k) {
			r[k] = v
		}
	}
	if s.kind != "" {
		r["type"] = s.kind
	}
	return r
}

func (s section) list(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(s.entries(c)) {
		if s.kind != "" && !c.May("/mapping/"+s.kind+"/"+id, "Mapping.Use|Mapping.Modify|Mapping.Audit") {
			continue
		}
		if c.Has("type") && c.Text("type") != schema.Text(s.entries(c)[id]["type"]) {
			continue
		}
		rows = append(rows, s.shown(id, s.entries(c)[id]))
	}
	return rows, nil
}

func (s section) show(c *core.Call) (any, error) {
	id := c.Text(s.id)
	entry := s.entries(c)[id]
	if entry == nil {
		return nil, core.Fail(s.none, id)
	}
	r := s.shown(id, entry)
	if s.digests {
		r["digest"] = s.digest(c)
	}
	return r, nil
}

// locked runs a change; some sections say what was being done when it fails.
func (s section) locked(c *core.Call, verb string, change func() error) error {
	if s.doing == "" {
		return change()
	}
	return c.Locked("file-mapping_cfg", fmt.Sprintf(s.doing, verb), change)
}

// fill puts the call's parameters into an entry.
func (s section) fill(c *core.Call, entry core.Row) core.Row {
	n := core.Row{}
	for k, v := range entry {
		n[k] = v
	}
	for k, v := range c.Params {
		if k == s.id || k == "delete" || k == "digest" || k == "node" {
			continue
		}
		n[k] = v
		if p := c.Endpoint.Params.Lookup(k); p != nil && (p.Kind == schema.Integer || p.Kind == schema.Boolean) {
			n[k] = core.Integer(schema.Text(v))
		}
	}
	removed := c.List("delete")
	if list, is := c.Params["delete"].([]any); is {
		removed = schema.SplitList(schema.Join(list))
	}
	for _, k := range removed {
		delete(n, k)
	}
	return n
}

func (s section) add(c *core.Call) (any, error) {
	id := c.Text(s.id)
	return nil, s.locked(c, "create", func() error {
		if s.entries(c)[id] != nil {
			return core.Fail(s.exists, id)
		}
		s.entries(c)[id] = s.fill(c, nil)
		return nil
	})
}

func (s section) change(c *core.Call) (any, error) {
	id := c.Text(s.id)
	return nil, s.locked(c, "update", func() error {
		if err := core.Unmodified(s.digest(c), c.Text("digest")); err != nil {
			return err
		}
		entry := s.entries(c)[id]
		switch {
		case entry == nil && s.kind != "":
			return core.Fail("%s ID '%s' does not exist", s.kind, id)
		case entry == nil:
			return core.Fail(s.none, id)
		}
		s.entries(c)[id] = s.fill(c, entry)
		return nil
	})
}

func (s section) drop(c *core.Call) (any, error) {
	delete(s.entries(c), c.Text(s.id))
	return nil, nil
}

// notificationTargets are all endpoints that messages can be sent to.
func notificationTargets(c *core.Call) (any, error) {
	rows := []any{}
	for _, s := range sections() {
		kind, isEndpoint := strings.CutPrefix(s.path, "/cluster/notifications/endpoints/")
		if !isEndpoint {
			continue
		}
		for _, id := range core.SortedKeys(s.entries(c)) {
			r := core.Row{"name": id, "type": kind, "origin": "user-created"}
			for _, k := range []string{"comment", "disable"} {
				if v, set := s.entries(c)[id][k]; set {
					r[k] = v
				}
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}
