import { expect, test } from "vitest";
import { aclCommands } from "./pveum";

const pool = "/pool/kubehenge/web.shop";

test("each missing privilege has the role that holds it", () => {
  const missing = [
    { privilege: "VM.Allocate", path: pool },
    { privilege: "SDN.Use", path: "/sdn/zones/localnetwork/vmbr0" },
  ];
  expect(aclCommands("carol@pve", missing)).toEqual([
    "pveum acl modify /pool/kubehenge/web.shop --users carol@pve --roles PVEVMAdmin",
    "pveum acl modify /sdn/zones/localnetwork/vmbr0 --users carol@pve --roles PVESDNUser",
  ]);
});

test("a privilege without a role gets a role of its own first", () => {
  expect(aclCommands("carol@pve", [{ privilege: "Sys.Modify", path: pool }])).toEqual([
    'pveum role add KubehengeClusterAdmin --privs "Sys.Modify VM.Allocate VM.Audit"',
    "pveum acl modify /pool/kubehenge/web.shop --users carol@pve --roles KubehengeClusterAdmin",
  ]);
});

test("the role of its own takes the place of others on the same path", () => {
  const missing = ["VM.Allocate", "Sys.Modify"].map((privilege) => ({ privilege, path: pool }));
  expect(aclCommands("carol@pve", missing)).toEqual([
    'pveum role add KubehengeClusterAdmin --privs "Sys.Modify VM.Allocate VM.Audit"',
    "pveum acl modify /pool/kubehenge/web.shop --users carol@pve --roles KubehengeClusterAdmin",
  ]);
});

test("the same command is there once, and none where nothing is missing", () => {
  const need = { privilege: "VM.Audit", path: pool };
  expect(aclCommands("carol@pve", [need, need])).toHaveLength(1);
  expect(aclCommands("carol@pve", [])).toEqual([]);
});
