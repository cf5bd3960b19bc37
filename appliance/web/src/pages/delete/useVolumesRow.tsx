import { Fragment } from "react";
import { type ClusterName, useVolumes, type Volumes } from "@/api";
import { Said, useWords } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import type { Row } from "./WhatDies";

/** The volumes that die: counted and named where the person sees all of them, else what is known, and why there may be more. */
export function useVolumesRow(cluster: ClusterName): Row {
  const t = useTexts("delete");
  const say = useWords();
  const known = useVolumes(cluster.namespace, cluster.name).data;
  const count = known?.volumes.length ?? 0;
  const whole = known !== undefined && known.gaps === undefined;
  if (whole && count === 0) {
    return { key: "volumes", what: t("volumes"), detail: t("volumesNone"), size: "" };
  }
  return {
    key: "volumes",
    what: whole ? t("volumesCount", { n: count }) : t("volumes"),
    detail: (
      <>
        {!whole && <p>{t("volumesText")}</p>}
        {known !== undefined && <Seen of={known} />}
      </>
    ),
    size: known === undefined || count === 0 ? "" : whole ? say.bytes(known.sizeBytes) : t("atLeast", { size: say.bytes(known.sizeBytes) }),
  };
}

/** So many are named; more are counted. */
const most = 8;

function Seen({ of: { volumes, gaps } }: { of: Volumes }) {
  const t = useTexts("delete");
  const say = useWords();
  return (
    <>
      {volumes.length > 0 && (
        <ul>
          {volumes.slice(0, most).map((v) => (
            <li key={`${v.node ?? ""} ${v.id}`}>
              <span className={layout.mono}>{v.id}</span>,{" "}
              <span className={layout.nowrap}>{v.node ? t("volumeOn", { size: say.bytes(v.sizeBytes), node: v.node }) : say.bytes(v.sizeBytes)}</span>
            </li>
          ))}
          {volumes.length > most && <li>{t("volumesMore", { n: volumes.length - most })}</li>}
        </ul>
      )}
      {gaps !== undefined && (
        <p>
          {t("volumesGap")}
          {gaps.map((gap) => (
            <Fragment key={gap.message}>
              {" "}
              <Said of={gap} field="message" whole />
            </Fragment>
          ))}
        </p>
      )}
    </>
  );
}
