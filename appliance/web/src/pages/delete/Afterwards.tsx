import type { Detail } from "@/api";
import { type CheckItem, Checks, Panel } from "@/components";
import { useTexts } from "@/i18n";

/** What is so once the cluster is gone. */
export function Afterwards({ cluster }: { cluster: Detail }) {
  const t = useTexts("delete");
  const { allocation } = cluster;
  const items: CheckItem[] = [{ state: "ok", text: t("afterFile") }];
  if (cluster.endpoint !== "") {
    items.push({ state: "ok", text: t("afterAddress", { address: cluster.endpoint }) });
  }
  if (allocation !== undefined) {
    items.push({ state: "ok", text: t("afterIDs", allocation.vmIDs) });
  }
  items.push({ state: "ok", text: t("afterBackups") }, { state: "warn", text: t("afterNoUndo") });
  return (
    <Panel title={t("afterwards")}>
      <Checks items={items} ordered />
    </Panel>
  );
}
