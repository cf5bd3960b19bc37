import { useState } from "react";
import { type ClusterAnswer, useFleet } from "@/api";
import { Field, Reason, Select } from "@/components";
import { useTexts } from "@/i18n";
import { ChangePage, WithCluster } from "../change-plan/ChangePage";
import { upgradesFrom, upgradeStep } from "../change-plan/versions";

/** Upgrading: which version, what that does to which VM, and the commit. */
export function Component() {
  const t = useTexts("changePlan");
  return (
    <WithCluster title={(cluster) => t("upgradeTitle", { cluster })} crumb={t("upgradeCrumb")}>
      {(answer) => <UpgradePage answer={answer} />}
    </WithCluster>
  );
}

function UpgradePage({ answer }: { answer: ClusterAnswer }) {
  const t = useTexts("changePlan");
  const { cluster } = answer;
  const full = `${cluster.namespace}/${cluster.name}`;
  const known = useFleet().data?.versions ?? [];
  const [now, setNow] = useState(cluster.wantedVersion);
  const [wanted, setWanted] = useState<string | null>(null);
  const choices = cluster.upgrades ?? upgradesFrom(now, known);
  const fields = wanted === null ? [] : [{ path: "spec.version", value: wanted }];
  return (
    <ChangePage
      answer={answer}
      title={t("upgradeTitle", { cluster: full })}
      crumb={t("upgradeCrumb")}
      fields={fields}
      subject={wanted === null ? "" : `Upgrade ${full} to ${wanted}`}
      button={t("upgrade")}
      planNone={t("planNoneUpgrade")}
      reason={wanted === null ? (choices.length === 0 ? t("noUpgrades") : t("chooseVersion")) : undefined}
      onKeep={(conflict, keep) => {
        setNow(String(conflict.theirs));
        if (keep === "theirs") {
          setWanted(null);
        }
      }}
      form={
        <>
          <Field label={t("version")} hint={t("versionNow", { version: now })}>
            <Select
              value={wanted}
              onChange={setWanted}
              placeholder={t("chooseVersion")}
              options={choices.map((v) => ({ value: v, label: v, detail: { patch: t("versionNext"), minor: t("versionMinor"), further: undefined }[upgradeStep(now, v) ?? "further"] }))}
            />
          </Field>
          <Reason>{t("rolling")}</Reason>
        </>
      }
    />
  );
}
