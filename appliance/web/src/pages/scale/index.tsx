import { useState } from "react";
import type { ClusterAnswer, ClusterClaimSpec } from "@/api";
import { Field, NumberInput, Reason, Select } from "@/components";
import { useTexts } from "@/i18n";
import { ChangePage, WithCluster } from "../change-plan/ChangePage";
import { changed, controlPlaneChoices, fieldsOf, mostWorkers, type Part, partsOf, settled, subjectOf, wanting } from "../change-plan/scale";
import { useSizeWords } from "../cluster/AskedFor";

/** Scaling: how many nodes, what that does to which VM, and the commit. */
export function Component() {
  const t = useTexts("changePlan");
  return (
    <WithCluster title={(cluster) => t("scaleTitle", { cluster })} crumb={t("scaleCrumb")}>
      {(answer) => <ScalePage answer={answer} />}
    </WithCluster>
  );
}

const none: ClusterClaimSpec = { class: "", version: "", network: "", endpoint: "", controlPlane: { replicas: 0 } };

function ScalePage({ answer }: { answer: ClusterAnswer }) {
  const t = useTexts("changePlan");
  const { cluster } = answer;
  const full = `${cluster.namespace}/${cluster.name}`;
  // What the person looks at stays as it was when the page opened; whatever somebody else changes since is told when it is committed.
  const [parts, setParts] = useState(() => partsOf(cluster.spec ?? none));
  const fields = fieldsOf(parts);
  return (
    <ChangePage
      answer={answer}
      title={t("scaleTitle", { cluster: full })}
      crumb={t("scaleCrumb")}
      fields={fields}
      subject={subjectOf(full, parts)}
      button={t("scale")}
      planNone={t("planNoneScale")}
      reason={cluster.spec === undefined ? t("unreadable") : changed(parts).length === 0 ? t("nothingYet") : undefined}
      onKeep={(conflict, keep) => setParts((now) => settled(now, conflict, keep))}
      form={
        <>
          {parts.map((part) => (
            <PartField key={part.place} part={part} alone={parts.length === 2} onChange={(n) => setParts((now) => wanting(now, part.place, n))} />
          ))}
          {parts.length === 1 && <Reason>{t("noWorkers")}</Reason>}
        </>
      }
    />
  );
}

function PartField({ part, alone, onChange }: { part: Part; alone: boolean; onChange: (wanted: number) => void }) {
  const t = useTexts("changePlan");
  const size = useSizeWords();
  const hint = t("nowManySize", { n: part.was, size: size(part.machine) });
  if (part.pool === "") {
    const details: Record<number, string> = { 1: t("survivesNone"), 3: t("survivesOne"), 5: t("survivesTwo") };
    return (
      <Field label={t("controlPlane")} hint={hint}>
        <Select
          value={String(part.wanted)}
          onChange={(v) => onChange(Number(v))}
          options={controlPlaneChoices.map((n) => ({ value: String(n), label: String(n), detail: details[n] }))}
        />
      </Field>
    );
  }
  return (
    <Field label={alone ? t("workers") : t("poolWorkers", { pool: part.pool })} hint={hint}>
      <NumberInput value={part.wanted} min={0} max={mostWorkers} onChange={(n) => n !== null && onChange(n)} />
    </Field>
  );
}
