package access

import (
	"slices"
	"strings"
)

// Version is a release line of Proxmox VE as far as privileges differ.
type Version string

// The versions that are known.
const (
	V8 Version = "8.4"
	V9 Version = "9.2"
)

// Role is a named set of privileges.
type Role struct {
	Name       string
	Privileges []string // sorted
}

// common are the privileges that both versions have.
// Source: pve-access-control src/PVE/AccessControl.pm, 8.2.3 and 9.1.1.
const common = `VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk
VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.Migrate VM.PowerMgmt VM.Snapshot
VM.Snapshot.Rollback
Sys.AccessNetwork Sys.Audit Sys.Console Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog
Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit
SDN.Allocate SDN.Audit SDN.Use Pool.Allocate Pool.Audit Mapping.Audit Mapping.Modify Mapping.Use
User.Modify Group.Allocate Realm.Allocate Realm.AllocateUser Permissions.Modify`

var byVersion = map[Version]string{
	V8: `VM.Monitor`,
	V9: `VM.GuestAgent.Audit VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.GuestAgent.Unrestricted VM.Replicate`,
}

// Privileges returns all privileges of a version, sorted.
func Privileges(v Version) []string {
	return sorted(strings.Fields(common + " " + byVersion[v]))
}

// adminOnly are the privileges of Administrator that PVEAdmin lacks.
const adminOnly = `Permissions.Modify Sys.PowerMgmt Sys.Modify Sys.Incoming Sys.AccessNetwork Realm.Allocate Mapping.Modify`

// builtin are the roles besides Administrator, NoAccess, PVEAdmin and PVEVMAdmin; a privilege that a version lacks is
// left out of them.
var builtin = []struct{ name, privileges string }{
	{"PVEAuditor", "VM.Audit VM.GuestAgent.Audit Sys.Audit Datastore.Audit SDN.Audit Pool.Audit Mapping.Audit"},
	{"PVEVMUser", "VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.Backup VM.PowerMgmt VM.Audit VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.GuestAgent.Audit"},
	{"PVETemplateUser", "VM.Clone VM.Audit"},
	{"PVEDatastoreAdmin", "Datastore.Allocate Datastore.AllocateTemplate Datastore.AllocateSpace Datastore.Audit"},
	{"PVEDatastoreUser", "Datastore.AllocateSpace Datastore.Audit"},
	{"PVESDNAdmin", "SDN.Allocate SDN.Audit SDN.Use"},
	{"PVESDNUser", "SDN.Audit SDN.Use"},
	{"PVEPoolAdmin", "Pool.Allocate Pool.Audit"},
	{"PVEPoolUser", "Pool.Audit"},
	{"PVESysAdmin", "Sys.Console Sys.Syslog Sys.Audit"},
	{"PVEUserAdmin", "User.Modify Group.Allocate Realm.AllocateUser"},
	{"PVEMappingAdmin", "Mapping.Modify Mapping.Use Mapping.Audit"},
	{"PVEMappingUser", "Mapping.Use Mapping.Audit"},
}

// Builtin returns the roles that a version has by itself.
func Builtin(v Version) []Role {
	all := Privileges(v)
	roles := []Role{
		{Name: "Administrator", Privileges: all},
		{Name: "NoAccess"},
		{Name: "PVEAdmin", Privileges: filter(all, func(p string) bool { return !slices.Contains(strings.Fields(adminOnly), p) })},
		{Name: "PVEVMAdmin", Privileges: filter(all, func(p string) bool { return strings.HasPrefix(p, "VM.") })},
	}
	for _, r := range builtin {
		known := filter(strings.Fields(r.privileges), func(p string) bool { return slices.Contains(all, p) })
		roles = append(roles, Role{Name: r.name, Privileges: sorted(known)})
	}
	return roles
}

func filter(list []string, keep func(string) bool) []string {
	var kept []string
	for _, v := range list {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
