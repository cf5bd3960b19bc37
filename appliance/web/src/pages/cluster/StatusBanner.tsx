import { Fragment, type ReactNode } from "react";
import type { ClusterAnswer } from "@/api";
import { Banner, Button, markOf, Said, Sha, Span, Time, toneOf, usePhaseWord } from "@/components";
import { useSaid, useTexts } from "@/i18n";
import { commitAddress } from "@/shell/addresses";
import { tellsSince } from "./standing";

/** One sentence that says what the cluster waits for or how it stands, since when where the sentence does not say so itself, and what is on its way to it. Before a sentence in another language come phase and counts. */
export function StatusBanner({ answer }: { answer: ClusterAnswer }) {
  const t = useTexts("cluster");
  const word = usePhaseWord();
  const { cluster, stale } = answer;
  const mark = markOf(cluster.phase);
  const { pending } = cluster;
  const since = cluster.messageSince ?? cluster.since;
  const help: ReactNode[] = [];
  if (stale !== undefined && cluster.phase !== "Unknown") {
    help.push(t.rich("staleThen", { time: <Time at={stale.since} form="clock" /> }));
  } else if (since !== undefined && !tellsSince(cluster.message)) {
    help.push(t.rich("since", { time: <Time at={since} />, span: <Span since={since} /> }));
  } else if (since === undefined && cluster.phase === "Unknown" && stale === undefined) {
    help.push(t("unknownNext"));
  }
  if (pending !== undefined) {
    help.push(t.rich("pending", { commit: <Sha commit={pending.commit} to={commitAddress(pending.commit)} />, subject: pending.subject }));
  }
  const sentence = <Said of={cluster} field="message" whole />;
  const inEnglish = useSaid()(cluster, "message").lang !== undefined;
  if (inEnglish) help.unshift(sentence);
  return (
    <Banner
      tone={stale === undefined ? toneOf[mark] : "gone"}
      mark={mark}
      help={help.length > 0 && help.map((h, i) => (
        <Fragment key={i}>
          {i > 0 && " "}
          {h}
        </Fragment>
      ))}
      actions={pending === undefined ? undefined : <Button to={commitAddress(pending.commit)} icon="commit">{t("showChange")}</Button>}
    >
      {cluster.message === "" && t("unknown", { cluster: `${cluster.namespace}/${cluster.name}` })}
      {inEnglish ? t("standing", { phase: word(cluster.phase), ready: cluster.nodes.ready, wanted: cluster.nodes.wanted }) : sentence}
    </Banner>
  );
}
