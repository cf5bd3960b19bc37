import { useState } from "react";
import type { ClusterEvent } from "@/api";
import { type Column, Empty, English, Panel, Segment, State, Table, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { useClusterPage } from "../cluster/context";

type Which = "all" | "warnings";

/** What Kubernetes told about the cluster lately, newest first. */
export function Component() {
  const t = useTexts("clusterEvents");
  const { cluster } = useClusterPage();
  const [which, setWhich] = useState<Which>("all");
  const all = cluster.events ?? [];
  if (all.length === 0) {
    return <Empty title={t("none")}>{t("noneHint")}</Empty>;
  }
  const shown = all.filter((e) => which === "all" || e.type === "Warning").toSorted((a, b) => b.time.localeCompare(a.time));
  return (
    <div className={layout.stack}>
      <div>
        <Segment
          label={t("which")}
          value={which}
          onChange={setWhich}
          options={[
            { value: "all", label: t("all") },
            { value: "warnings", label: t("onlyWarnings") },
          ]}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title={t("noWarnings")} />
      ) : (
        <Panel flush>
          <EventTable events={shown} />
        </Panel>
      )}
    </div>
  );
}

function EventTable({ events }: { events: readonly ClusterEvent[] }) {
  const t = useTexts("clusterEvents");
  const columns: Column<ClusterEvent>[] = [
    { key: "time", head: t("time"), width: "fit", soft: true, cell: (e) => <Time at={e.time} form="log" /> },
    { key: "type", head: t("type"), width: "fit", show: "wide", cell: (e) => <State kind={e.type === "Warning" ? "error" : "running"}>{e.type === "Warning" ? t("warning") : t("normal")}</State> },
    { key: "object", head: t("object"), show: "roomy", soft: true, cell: (e) => e.object },
    { key: "reason", head: t("reason"), width: "fit", show: "wide", cell: (e) => e.reason },
    { key: "message", head: t("message"), cell: (e) => <Message event={e} /> },
    { key: "count", head: t("count"), number: true, width: "fit", show: "wide", soft: true, cell: (e) => e.count },
  ];
  return <Table label={t("title")} columns={columns} rows={events} rowKey={(e) => `${e.time} ${e.object} ${e.reason} ${e.message}`} tone={(e) => (e.type === "Warning" ? "error" : undefined)} />;
}

function Message({ event }: { event: ClusterEvent }) {
  const t = useTexts("clusterEvents");
  return (
    <>
      <English>{asSentence(event.message)}</English>
      <span className={`${layout.sub} ${layout.narrow}`}>{t("phoneLine", { reason: event.reason, object: event.object, n: event.count })}</span>
    </>
  );
}
