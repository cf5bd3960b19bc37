import type { ReactNode } from "react";
import type { Detail } from "@/api";
import { Panel, Table, useWords } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { useClusterPool, userOf } from "../cluster/pool";
import { useVolumesRow } from "./useVolumesRow";

export interface Row {
  key: string;
  what: string;
  detail: ReactNode;
  size: string;
}

/** What a cluster's deletion takes with it. */
export function WhatDies({ cluster }: { cluster: Detail }) {
  const t = useTexts("delete");
  const say = useWords();
  const pool = useClusterPool(cluster);
  const nodes = cluster.nodesList ?? [];
  const count = Math.max(nodes.length, cluster.resources?.vms ?? 0);
  const placed = nodes.flatMap((n) => (n.vmid === undefined || n.vmid === 0 || n.proxmoxNode === undefined ? [] : [t("vmOn", { vmid: n.vmid, node: n.proxmoxNode })]));
  const rows: Row[] = [
    {
      key: "vms",
      what: t("vms", { n: count }),
      detail: placed.length === 0 ? t("noVMs") : say.list(placed),
      size: cluster.resources === undefined ? "" : say.bytes(cluster.resources.diskBytes),
    },
    useVolumesRow(cluster),
    { key: "user", what: t("user"), detail: t("userText", { user: userOf(cluster), pool: pool.replace(/^\/pool\//, "") }), size: "" },
  ];
  return (
    <Panel flush>
      <Table
        label={t("deleted")}
        rows={rows}
        rowKey={(r) => r.key}
        columns={[
          { key: "what", head: t("deleted"), header: true, width: "fit", cell: (r) => <span className={layout.nowrap}>{r.what}</span> },
          { key: "detail", head: t("what"), soft: true, cell: (r) => r.detail },
          { key: "size", head: t("size"), number: true, width: "fit", show: "wide", cell: (r) => r.size },
        ]}
      />
    </Panel>
  );
}
