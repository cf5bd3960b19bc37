import type { Node } from "@/api";
import { Badge, type Column, type MarkKind, Said, Sha, Span, State, Table, useWords } from "@/components";
import { useSaid, useTexts } from "@/i18n";
import { commitAddress } from "@/shell/addresses";
import layout from "@/styles/layout.module.css";

/** markOfNode is how a node is drawn. */
export function markOfNode(node: Node): MarkKind {
  if (node.ready) {
    return "running";
  }
  return ({ Failed: "error", Deleting: "deleting" } as Partial<Record<string, MarkKind>>)[node.phase] ?? "progress";
}

/** A cluster's nodes, one a row. On a phone what does not fit stands below the name. */
export function NodeTable({ nodes }: { nodes: readonly Node[] }) {
  const t = useTexts("clusterNodes");
  const roleOf = useRole();
  const said = useSaid();
  const say = useWords();
  const word = (n: Node) => (n.ready ? t("ready") : said(n, "phase").text);
  const columns: Column<Node>[] = [
    { key: "state", head: t("state"), width: "fit", show: "wide", cell: (n) => <State kind={markOfNode(n)}>{word(n)}</State> },
    { key: "node", head: t("node"), header: true, cell: (n) => <NodeName node={n} /> },
    { key: "phoneState", head: t("state"), width: "fit", show: "phone", cell: (n) => <Badge kind={markOfNode(n)}>{word(n)}</Badge> },
    { key: "role", head: t("role"), width: "fit", show: "wide", soft: true, cell: (n) => roleOf(n) },
    { key: "vm", head: t("vm"), width: "fit", show: "wide", cell: (n) => n.vmid || "" },
    { key: "on", head: t("on"), width: "fit", show: "wide", cell: (n) => n.proxmoxNode },
    { key: "address", head: t("address"), width: "fit", show: "wide", cell: (n) => <span className={layout.mono}>{n.address}</span> },
    { key: "size", head: t("cpuMemory"), width: "fit", show: "roomy", cell: (n) => n.cpu && t("cpuMemoryOf", { cpu: n.cpu, memory: say.bytes(n.memoryBytes ?? 0) }) },
    { key: "disk", head: t("disk"), width: "fit", show: "roomy", cell: (n) => n.diskBytes && say.bytes(n.diskBytes) },
    { key: "version", head: t("version"), width: "fit", show: "roomy", soft: true, cell: (n) => n.version },
    { key: "age", head: t("age"), width: "fit", show: "roomy", soft: true, cell: (n) => <Span since={n.since} /> },
    { key: "madeBy", head: t("madeBy"), width: "fit", show: "wide", cell: (n) => n.commit && <Sha commit={n.commit} to={commitAddress(n.commit)} /> },
  ];
  const told = nodes.some((n) => n.commit !== undefined && n.commit !== "");
  return <Table close label={t("list")} columns={columns.filter((c) => told || c.key !== "madeBy")} rows={nodes} rowKey={(n) => n.name} tone={(n) => (markOfNode(n) === "error" ? "error" : undefined)} />;
}

function useRole(): (node: Node) => string {
  const t = useTexts("clusterNodes");
  return (n) => {
    if (n.role === "control-plane") {
      return t("controlPlane");
    }
    return n.pool === undefined || n.pool === "" || n.pool === "workers" ? t("worker") : t("workerOf", { pool: n.pool });
  };
}

function NodeName({ node }: { node: Node }) {
  const t = useTexts("clusterNodes");
  const role = useRole()(node);
  const say = useWords();
  const placed = node.vmid !== undefined && node.vmid !== 0 && node.proxmoxNode !== undefined;
  return (
    <>
      {node.name}
      <span className={`${layout.sub} ${layout.narrow}`}>
        {placed ? t("placeLine", { role, vmid: node.vmid ?? 0, node: node.proxmoxNode ?? "" }) : role}
        {node.address !== undefined && (
          <>
            <br />
            {node.address}
          </>
        )}
        {node.cpu !== undefined && (
          <>
            <br />
            {t("size", { cpu: node.cpu, memory: say.bytes(node.memoryBytes ?? 0), disk: say.bytes(node.diskBytes ?? 0) })}
          </>
        )}
      </span>
      {!node.ready && node.message !== undefined && node.message !== "" && <span className={layout.sub}><Said of={node} field="message" whole /></span>}
    </>
  );
}
