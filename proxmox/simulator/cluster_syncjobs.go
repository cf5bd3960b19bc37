package simulator

import "kubehenge.dev/proxmox/simulator/schema"

const syncJobs = "/cluster/jobs/realm-sync"

// syncJobEndpoints are jobs that take over users and groups from directories. Source: pve-access-control
// src/PVE/API2/Jobs/RealmSync.pm.
func syncJobEndpoints() []*Endpoint {
	audit := Need("/", "Sys.Audit")
	const job = "id* configid(..64); comment string(..512); enabled bool; schedule* calendar-event(..128);" + SyncFields
	return []*Endpoint{
		On("GET "+syncJobs, audit, "", listSyncJobs),
		On("POST "+syncJobs+"/{id}", MaySync(), job+"realm realm(..32)", createSyncJob),
		On("GET "+syncJobs+"/{id}", audit, "id* configid", readSyncJob),
		On("PUT "+syncJobs+"/{id}", maySyncJob, job+"delete configid-list(..4096)", updateSyncJob),
		On("DELETE "+syncJobs+"/{id}", Need("/", "Sys.Modify"), "id* configid", deleteSyncJob),
	}
}

// syncJob is the job that the path names.
func syncJob(c *call) Row { return c.State.Sections[syncJobs][c.Text("id")] }

// maySyncJob asks for the realm of the job that the path names.
func maySyncJob(c *call) error {
	if j := syncJob(c); j != nil {
		if err := c.Check("/access/realm/"+schema.Text(j["realm"]), "Realm.AllocateUser"); err != nil {
			return err
		}
	}
	return c.Check("/access/groups", "User.Modify")
}

func listSyncJobs(c *call) (any, error) {
	rows := []any{}
	for _, id := range SortedKeys(c.State.Sections[syncJobs]) {
		r := Row{"id": id}
		for k, v := range c.State.Sections[syncJobs][id] {
			r[k] = v
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func setSyncJob(c *call, old Row) Row {
	s := section{id: "id"}
	r := s.fill(c, old)
	r["type"] = "realm-sync"
	return r
}

func createSyncJob(c *call) (any, error) {
	id, realm := c.Text("id"), c.State.Realms[c.Text("realm")]
	switch {
	case syncJob(c) != nil:
		return nil, Fail("Job '%s' already exists", id)
	case realm == nil:
		return nil, Invalid("realm", "No such realm '%s'", c.Text("realm"))
	case realm.Kind != "ldap" && realm.Kind != "ad":
		return nil, Invalid("realm", "Only LDAP/AD realms can be synced.")
	}
	if c.State.Sections[syncJobs] == nil {
		c.State.Sections[syncJobs] = map[string]Row{}
	}
	r := setSyncJob(c, nil)
	if _, set := r["enabled"]; !set {
		r["enabled"] = 1
	}
	c.State.Sections[syncJobs][id] = r
	return nil, nil
}

func readSyncJob(c *call) (any, error) {
	if j := syncJob(c); j != nil {
		return j, nil
	}
	return nil, Invalid("id", "No such job '%s'", c.Text("id"))
}

func updateSyncJob(c *call) (any, error) {
	j := syncJob(c)
	if j == nil {
		return nil, Fail("no such realm-sync job")
	}
	c.State.Sections[syncJobs][c.Text("id")] = setSyncJob(c, j)
	return nil, nil
}

func deleteSyncJob(c *call) (any, error) {
	if syncJob(c) == nil {
		return nil, Invalid("id", "No such job '%s'", c.Text("id"))
	}
	delete(c.State.Sections[syncJobs], c.Text("id"))
	return nil, nil
}
