import { Link } from "react-router";
import type { AuditEvent } from "@/api";
import { type Column, English, Sha, Table, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useTexts } from "@/i18n";
import { clusterAddress, commitAddress } from "@/shell/addresses";
import layout from "@/styles/layout.module.css";
import css from "./Audit.module.css";

/** Events of the audit log, one a row. On a phone who, from where and on what stand below what happened. */
export function AuditTable({ events }: { events: readonly AuditEvent[] }) {
  const t = useTexts("audit");
  const columns: Column<AuditEvent>[] = [
    { key: "time", head: t("time"), width: "fit", soft: true, cell: (e) => <Time at={e.time} form="log" /> },
    { key: "user", head: t("user"), width: "fit", show: "wide", cell: (e) => e.user ?? <span className={layout.muted}>{t("nobody")}</span> },
    { key: "from", head: t("from"), width: "fit", show: "roomy", soft: true, cell: (e) => <span className={layout.mono}>{e.from}</span> },
    { key: "what", head: t("what"), width: "fit", show: "wide", cell: (e) => t.maybe(`what-${e.what}`) ?? e.what },
    { key: "on", head: t("on"), width: "fit", show: "wide", cell: (e) => <On event={e} /> },
    { key: "result", head: t("result"), cell: (e) => <Result event={e} /> },
  ];
  return <Table label={t("title")} columns={columns} rows={events} rowKey={(e) => keyOf(e, events)} tone={(e) => (e.refused ? "error" : undefined)} />;
}

/** Several events may be written at the same moment. */
function keyOf(event: AuditEvent, events: readonly AuditEvent[]): string {
  return String(events.indexOf(event));
}

function On({ event }: { event: AuditEvent }) {
  const [namespace, name, ...more] = (event.on ?? "").split("/");
  if (namespace === undefined || name === undefined || namespace === "" || name === "" || more.length > 0) {
    return <>{event.on}</>;
  }
  return <Link to={clusterAddress({ namespace, name })}>{event.on}</Link>;
}

function Result({ event }: { event: AuditEvent }) {
  const t = useTexts("audit");
  return (
    <>
      {event.commit !== undefined && event.commit !== "" && <Sha commit={event.commit} to={commitAddress(event.commit)} />} {event.detail}{" "}
      {event.refused && <span className={css.refused}>{t.rich("refusedWhy", { reason: <English>{asSentence(event.refused)}</English> })}</span>}
      <span className={`${layout.sub} ${layout.narrow}`}>
        {[event.user ?? t("nobody"), event.from, t.maybe(`what-${event.what}`) ?? event.what, event.on].filter(Boolean).join(" · ")}
      </span>
    </>
  );
}
