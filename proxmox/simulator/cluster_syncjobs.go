package simulator

import "kubehenge.dev/proxmox/simulator/schema"

const syncJobs = "/cluster/jobs/realm-sync"

// syncJobEndpoints are jobs that take over users and groups from directories. Source: pve-access-control
// src/PVE/API2/Jobs/RealmSync.pm.
func syncJobEndpoints() []*endpoint {
	audit := need("/", "Sys.Audit")
	const job = "id* configid(..64); comment string(..512); enabled bool; schedule* calendar-event(..128);" + syncFields
	return []*endpoint{
		on("GET "+syncJobs, audit, "", (*call).listSyncJobs),
		on("POST "+syncJobs+"/{id}", maySync(), job+"realm realm(..32)", (*call).createSyncJob),
		on("GET "+syncJobs+"/{id}", audit, "id* configid", (*call).readSyncJob),
		on("PUT "+syncJobs+"/{id}", (*call).maySyncJob, job+"delete configid-list(..4096)", (*call).updateSyncJob),
		on("DELETE "+syncJobs+"/{id}", need("/", "Sys.Modify"), "id* configid", (*call).deleteSyncJob),
	}
}

// syncJob is the job that the path names.
func (c *call) syncJob() row { return c.s.sections[syncJobs][c.text("id")] }

// maySyncJob asks for the realm of the job that the path names.
func (c *call) maySyncJob() error {
	if j := c.syncJob(); j != nil {
		if err := c.check("/access/realm/"+schema.Text(j["realm"]), "Realm.AllocateUser"); err != nil {
			return err
		}
	}
	return c.check("/access/groups", "User.Modify")
}

func (c *call) listSyncJobs() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.sections[syncJobs]) {
		r := row{"id": id}
		for k, v := range c.s.sections[syncJobs][id] {
			r[k] = v
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *call) setSyncJob(old row) row {
	s := section{id: "id"}
	r := s.fill(c, old)
	r["type"] = "realm-sync"
	return r
}

func (c *call) createSyncJob() (any, error) {
	id, realm := c.text("id"), c.s.realms[c.text("realm")]
	switch {
	case c.syncJob() != nil:
		return nil, fail("Job '%s' already exists", id)
	case realm == nil:
		return nil, invalid("realm", "No such realm '%s'", c.text("realm"))
	case realm.kind != "ldap" && realm.kind != "ad":
		return nil, invalid("realm", "Only LDAP/AD realms can be synced.")
	}
	if c.s.sections[syncJobs] == nil {
		c.s.sections[syncJobs] = map[string]row{}
	}
	r := c.setSyncJob(nil)
	if _, set := r["enabled"]; !set {
		r["enabled"] = 1
	}
	c.s.sections[syncJobs][id] = r
	return nil, nil
}

func (c *call) readSyncJob() (any, error) {
	if j := c.syncJob(); j != nil {
		return j, nil
	}
	return nil, invalid("id", "No such job '%s'", c.text("id"))
}

func (c *call) updateSyncJob() (any, error) {
	j := c.syncJob()
	if j == nil {
		return nil, fail("no such realm-sync job")
	}
	c.s.sections[syncJobs][c.text("id")] = c.setSyncJob(j)
	return nil, nil
}

func (c *call) deleteSyncJob() (any, error) {
	if c.syncJob() == nil {
		return nil, invalid("id", "No such job '%s'", c.text("id"))
	}
	delete(c.s.sections[syncJobs], c.text("id"))
	return nil, nil
}
