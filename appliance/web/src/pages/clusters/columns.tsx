import { useMemo } from "react";
import { Link } from "react-router";
import type { Size, Summary } from "@/api";
import { Button, type Column, Menu, type MenuItem, PhaseBadge, Said, Tag, Time, useWords } from "@/components";
import { phases } from "@/components/Stones/groups";
import { type Language, useLanguage, useSaid, useTexts } from "@/i18n";
import { askAddress, clusterAddress } from "@/shell/addresses";
import css from "./columns.module.css";
import layout from "@/styles/layout.module.css";
import { memoryOf } from "./memory";

/** Names and versions are compared with their numbers as numbers: shop-2 comes before shop-10. */
const natural = (language: Language) => new Intl.Collator(language, { numeric: true }).compare;

/** The columns of the list. stale is since when the phases are old. */
export function useColumns(sizes: readonly Size[], stale: string | undefined): Column<Summary>[] {
  const t = useTexts("clusters");
  const say = useWords();
  const { language } = useLanguage();
  return useMemo(() => {
    const compare = natural(language);
    const memory = (c: Summary) => memoryOf(c.spec, sizes) ?? -1;
    const nodes = (c: Summary) => (c.nodes.wanted > 0 ? t("nodesOf", c.nodes) : "");
    const rank = (c: Summary) => phases.indexOf(c.phase);
    const phaseHead = stale ? t.rich("phaseAt", { time: <Time at={stale} /> }) : t("phase");
    const badge = (c: Summary) => <PhaseBadge phase={c.phase} stale={Boolean(stale)} />;
    return [
      { key: "phase", head: phaseHead, width: "fit", show: "wide", cell: badge, compare: (a, b) => rank(a) - rank(b) },
      { key: "cluster", head: t("cluster"), header: true, cell: (c) => <Name cluster={c} />, compare: (a, b) => compare(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) },
      { key: "phasePhone", head: phaseHead, width: "fit", show: "phone", cell: badge },
      { key: "message", head: stale ? t.rich("messageAt", { time: <Time at={stale} /> }) : t("message"), width: "grow", show: "wide", soft: Boolean(stale), cell: (c) => <Message cluster={c} /> },
      { key: "version", head: stale ? t("versionInGit") : t("version"), width: "fit", show: "wide", cell: (c) => <Version cluster={c} />, compare: (a, b) => compare(versionOf(a), versionOf(b)) },
      { key: "nodes", head: t("nodes"), width: "fit", number: true, show: "wide", cell: nodes, compare: (a, b) => a.nodes.wanted - b.nodes.wanted },
      { key: "memory", head: t("memory"), width: "fit", number: true, show: "roomy", cell: (c) => (memory(c) < 0 ? "" : say.bytes(memory(c))), compare: (a, b) => memory(a) - memory(b) },
      { key: "owner", head: t("owner"), width: "fit", show: "roomy", soft: true, cell: (c) => c.owner, compare: (a, b) => compare(a.owner ?? "", b.owner ?? "") },
      { key: "actions", head: t("actions"), headHidden: true, width: "fit", show: "wide", cell: (c) => <Actions cluster={c} /> },
    ];
  }, [t, say, language, sizes, stale]);
}

const versionOf = (c: Summary) => c.version || c.wantedVersion;

function Name({ cluster: c }: { cluster: Summary }) {
  return (
    <>
      <Link to={clusterAddress(c)}>
        <small>{c.namespace}/</small>
        {c.name}
      </Link>
      <span className={`${layout.sub} ${layout.narrow}`}>
        <Said of={c} field="message" />
      </span>
    </>
  );
}

function Message({ cluster: c }: { cluster: Summary }) {
  const t = useTexts("clusters");
  const { text, lang } = useSaid()(c, "message");
  return (
    <span className={css.message}>
      <span title={text} lang={lang}>{text || (c.phase === "Unknown" && t("notSeenYet"))}</span>
      {c.problems?.length ? <Tag tone="wait">{t("fileHasProblem")}</Tag> : null}
      {c.pending && <Tag tone="wait">{t("changeWaits")}</Tag>}
    </span>
  );
}

function Version({ cluster: c }: { cluster: Summary }) {
  const moves = c.version && c.wantedVersion && c.version !== c.wantedVersion;
  return (
    <>
      {versionOf(c)} {moves && <Tag>→ {c.wantedVersion}</Tag>}
    </>
  );
}

function Actions({ cluster: c }: { cluster: Summary }) {
  const t = useTexts("clusters");
  const name = `${c.namespace}/${c.name}`;
  const items: MenuItem[] = [
    { key: "open", label: t("open"), icon: "cluster", to: clusterAddress(c) },
    { key: "scale", label: t("scale"), icon: "scale", to: askAddress(c, "scale"), answer: c.can.change, ruled: true },
    { key: "upgrade", label: t("upgrade"), icon: "upgrade", to: askAddress(c, "upgrade"), answer: c.can.change },
    { key: "kubeconfig", label: t("kubeconfig"), icon: "download", to: clusterAddress(c, "access"), answer: c.can.kubeconfig },
    { key: "delete", label: t("delete"), icon: "trash", to: clusterAddress(c, "delete"), answer: c.can.delete ?? c.can.change, danger: true, ruled: true },
  ];
  return <Menu trigger={<Button variant="quiet" small icon="more" label={t("actionsFor", { name })} data-row-actions />} items={items} />;
}
