import { useState } from "react";
import { Link } from "react-router";
import { type Change, useChange } from "@/api";
import { Button, type CheckItem, Checks, CopyButton, Diff, Failed, Panel, parseDiff, Reason, Sha, Skeleton, Stack, Time, useRefusal } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress, commitAddress } from "@/shell/addresses";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import css from "./ChangeDetail.module.css";
import { UndoDialog } from "./UndoDialog";

/** A commit: what it changed, what that did, and whether it can be undone. */
export function ChangeDetail({ commit }: { commit: string }) {
  const query = useChange(commit);
  if (query.data === undefined) {
    return query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={6} />;
  }
  return <ChangeParts change={query.data} titled />;
}

/** The parts of a commit. titled names it; a page of its own has the name in its head. */
export function ChangeParts({ change, titled }: { change: Change; titled?: boolean }) {
  const t = useTexts("clusterChanges");
  return (
    <div className={layout.stack}>
      <Differences change={change} titled={titled} />
      <div className={cx(layout.cols, layout.colsEven)}>
        <Panel title={t("whatItDid")}>
          <WhatItDid change={change} />
        </Panel>
        <Panel title={t("undo")}>
          <Undo change={change} />
        </Panel>
      </div>
    </div>
  );
}

function Differences({ change, titled }: { change: Change; titled?: boolean }) {
  const t = useTexts("clusterChanges");
  const text = change.body ?? "";
  const user = change.user ?? change.author;
  const head = titled
    ? {
        title: change.subject,
        extra: <Sha commit={change.commit} to={commitAddress(change.commit)} />,
        aside: !change.signedBy ? t.rich("byAt", { user, time: <Time at={change.time} /> }) : t.rich("byAtSigned", { user, time: <Time at={change.time} /> }),
      }
    : { path: change.files.length === 1 ? change.files[0] : undefined, title: change.files.length === 1 ? undefined : t("files", { n: change.files.length }), aside: <Lines change={change} /> };
  return (
    <Panel flush {...head}>
      {text !== "" && <p className={css.words}>{text}</p>}
      {change.diff === undefined || change.diff === "" ? (
        <p className={cx(css.words, layout.soft)}>{t("noDiff")}</p>
      ) : (
        <Diff text={change.diff} label={t("diff", { file: change.files.join(", ") })} paths={titled} />
      )}
      {change.cut && <p className={cx(css.words, layout.soft)}>{t("cut")}</p>}
    </Panel>
  );
}

function Lines({ change }: { change: Change }) {
  const t = useTexts("clusterChanges");
  const files = parseDiff(change.diff ?? "");
  const n = files.reduce((sum, f) => sum + Math.max(f.added, f.removed), 0);
  return n === 0 ? null : <>{t("changedLines", { n })}</>;
}

const deeds = { created: "touchedCreated", changed: "touchedChanged", deleted: "touchedDeleted", removed: "touchedRemoved" } as const;

function WhatItDid({ change }: { change: Change }) {
  const t = useTexts("clusterChanges");
  const states: Record<NonNullable<Change["state"]>, CheckItem> = {
    applied: { state: "ok", text: t("didApply") },
    waiting: { state: "wait", text: t("didWait") },
    refused: { state: "no", text: t("didRefuse") },
  };
  const items: CheckItem[] = [
    change.state === undefined ? { state: "todo", text: t("didUnknown") } : states[change.state],
    ...change.clusters.map(
      (c): CheckItem => ({
        state: "ok",
        text: t.rich(deeds[c.deed ?? "changed"], { cluster: <Link className={css.link} to={clusterAddress(c)}>{`${c.namespace}/${c.name}`}</Link> }),
      }),
    ),
    ...(change.checked ?? []).map((need): CheckItem => {
      const [privilege = "", path = ""] = need.split(" ");
      return { state: "ok", text: t.rich("checked", { privilege, path: <code className={css.path}>{path}</code> }) };
    }),
  ];
  if (change.vouched) {
    items.push({ state: "ok", text: t("vouched") });
  }
  if (change.signedBy) {
    items.push({ state: "ok", text: t.rich("signedBy", { signer: <span className={css.path}>{change.signedBy}</span> }) });
  }
  return (
    <Stack tight>
      <Checks items={items} ordered />
      <p className={css.sha}>
        <code>{change.commit}</code>
        <CopyButton value={change.commit} what={t("commitNumber")} alone />
      </p>
    </Stack>
  );
}

function Undo({ change }: { change: Change }) {
  const t = useTexts("clusterChanges");
  const [open, setOpen] = useState(false);
  const [cluster] = change.clusters;
  const refusal = useRefusal();
  const reason = refusal(change.undo) ?? (cluster === undefined ? t("undoByHand") : undefined);
  return (
    <Stack tight>
      <p>{t("undoHint")}</p>
      <p>
        <Button icon="undo" reason={reason} reasonId="undo-reason" onClick={() => setOpen(true)}>
          {t("undoThis")}
        </Button>
      </p>
      {reason !== undefined && <Reason id="undo-reason">{reason}</Reason>}
      {cluster !== undefined && <UndoDialog change={change} cluster={cluster} open={open} onOpenChange={setOpen} />}
    </Stack>
  );
}
