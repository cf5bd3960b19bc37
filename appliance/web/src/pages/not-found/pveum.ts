import type { Need } from "@/api";

/** The roles of Proxmox VE that hold a privilege, and VM.Audit where it is about a pool, without much else. */
const roles: Readonly<Record<string, string>> = {
  "VM.Audit": "PVEAuditor",
  "VM.Allocate": "PVEVMAdmin",
  "Datastore.AllocateSpace": "PVEDatastoreUser",
  "SDN.Use": "PVESDNUser",
};

/** No role of Proxmox VE but Administrator holds Sys.Modify, so it gets one of its own. A role on a pool replaces what is inherited, hence the others. */
const ownRole = "KubehengeClusterAdmin";
const ownPrivileges = "Sys.Modify VM.Allocate VM.Audit";

/** aclCommands are the commands that give a user what is missing, one a path and role. The role of one's own holds what is asked for on the same path too. */
export function aclCommands(user: string, missing: readonly Pick<Need, "privilege" | "path">[]): string[] {
  const own = new Set(missing.filter((n) => roles[n.privilege] === undefined).map((n) => n.path));
  const give = missing.map((n) => `pveum acl modify ${n.path} --users ${user} --roles ${own.has(n.path) ? ownRole : (roles[n.privilege] ?? ownRole)}`);
  return [...(own.size > 0 ? [`pveum role add ${ownRole} --privs "${ownPrivileges}"`] : []), ...new Set(give)];
}
