import { Link } from "react-router";
import type { Capacity } from "@/api";
import { Bar, type Column, Panel, Table, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { filterAddress } from "@/shell/addresses";

type Usage = Capacity["usage"][number];

/** Which namespaces use how much, of the clusters that the person sees. */
export function UsagePanel({ usage }: { usage: readonly Usage[] }) {
  const t = useTexts("capacity");
  const say = useWords();
  const all = usage.reduce((sum, u) => sum + u.memoryBytes, 0);
  const columns: Column<Usage>[] = [
    { key: "namespace", head: t("namespace"), header: true, width: "fit", cell: (u) => <Link to={filterAddress(`namespace:${u.namespace}`)}>{u.namespace}</Link> },
    {
      key: "share",
      head: t("share"),
      show: "wide",
      cell: (u) => (
        <Bar label={t("barLabel", { name: u.namespace, value: say.bytes(u.memoryBytes) })} parts={all === 0 ? [] : [{ kind: "used", share: u.memoryBytes / all }]} />
      ),
    },
    { key: "clusters", head: t("clustersColumn"), number: true, width: "fit", cell: (u) => u.clusters },
    { key: "memory", head: t("memoryColumn"), number: true, width: "fit", cell: (u) => say.bytes(u.memoryBytes) },
    { key: "cpu", head: t("cpu"), number: true, width: "fit", show: "wide", cell: (u) => u.cpu },
    { key: "disk", head: t("disk"), number: true, width: "fit", show: "wide", cell: (u) => say.bytes(u.diskBytes) },
  ];
  return (
    <Panel flush title={t("who")} aside={t("whoAside")}>
      <Table label={t("who")} columns={columns} rows={usage} rowKey={(u) => u.namespace} />
    </Panel>
  );
}
