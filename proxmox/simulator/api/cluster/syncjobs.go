package cluster

import (
	"kubehenge.dev/proxmox/simulator/api/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

const syncJobs = "/cluster/jobs/realm-sync"

// syncJobEndpoints are jobs that take over users and groups from directories. Source: pve-access-control
// src/PVE/API2/Jobs/RealmSync.pm.
func syncJobEndpoints() []*core.Endpoint {
	audit := core.Need("/", "Sys.Audit")
	const job = "id* configid(..64); comment string(..512); enabled bool; schedule* calendar-event(..128);" + access.SyncFields
	return []*core.Endpoint{
		core.On("GET "+syncJobs, audit, "", listSyncJobs),
		core.On("POST "+syncJobs+"/{id}", access.MaySync(), job+"realm realm(..32)", createSyncJob),
		core.On("GET "+syncJobs+"/{id}", audit, "id* configid", readSyncJob),
		core.On("PUT "+syncJobs+"/{id}", maySyncJob, job+"delete configid-list(..4096)", updateSyncJob),
		core.On("DELETE "+syncJobs+"/{id}", core.Need("/", "Sys.Modify"), "id* configid", deleteSyncJob),
	}
}

// syncJob is the job that the path names.
func syncJob(c *core.Call) core.Row { return c.State.Sections[syncJobs][c.Text("id")] }

// maySyncJob asks for the realm of the job that the path names.
func maySyncJob(c *core.Call) error {
	if j := syncJob(c); j != nil {
		if err := c.Check("/access/realm/"+schema.Text(j["realm"]), "Realm.AllocateUser"); err != nil {
			return err
		}
	}
	return c.Check("/access/groups", "User.Modify")
}

func listSyncJobs(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.Sections[syncJobs]) {
		r := core.Row{"id": id}
		for k, v := range c.State.Sections[syncJobs][id] {
			r[k] = v
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func setSyncJob(c *core.Call, old core.Row) core.Row {
	s := section{id: "id"}
	r := s.fill(c, old)
	r["type"] = "realm-sync"
	return r
}

func createSyncJob(c *core.Call) (any, error) {
	id, realm := c.Text("id"), c.State.Realms[c.Text("realm")]
	switch {
	case syncJob(c) != nil:
		return nil, core.Fail("Job '%s' already exists", id)
	case realm == nil:
		return nil, core.Invalid("realm", "No such realm '%s'", c.Text("realm"))
	case realm.Kind != "ldap" && realm.Kind != "ad":
		return nil, core.Invalid("realm", "Only LDAP/AD realms can be synced.")
	}
	if c.State.Sections[syncJobs] == nil {
		c.State.Sections[syncJobs] = map[string]core.Row{}
	}
	r := setSyncJob(c, nil)
	if _, set := r["enabled"]; !set {
		r["enabled"] = 1
	}
	c.State.Sections[syncJobs][id] = r
	return nil, nil
}

func readSyncJob(c *core.Call) (any, error) {
	if j := syncJob(c); j != nil {
		return j, nil
	}
	return nil, core.Invalid("id", "No such job '%s'", c.Text("id"))
}

func updateSyncJob(c *core.Call) (any, error) {
	j := syncJob(c)
	if j == nil {
		return nil, core.Fail("no such realm-sync job")
	}
	c.State.Sections[syncJobs][c.Text("id")] = setSyncJob(c, j)
	return nil, nil
}

func deleteSyncJob(c *core.Call) (any, error) {
	if syncJob(c) == nil {
		return nil, core.Invalid("id", "No such job '%s'", c.Text("id"))
	}
	delete(c.State.Sections[syncJobs], c.Text("id"))
	return nil, nil
}
