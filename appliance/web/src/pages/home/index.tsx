import { useSearchParams } from "react-router";
import { type Summary, useClusters, useFleet, useSession } from "@/api";
import { Failed, Page, Segment, Skeleton, type Stone, Stones } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { FirstTime } from "./FirstTime";
import { sortOut, type Sorted } from "./sort-out";
import { NeedsYou, OnTheMove } from "./Todo";
import { RoomLeft } from "./RoomLeft";

/** What needs the person, what is on the move, and how much room is left. */
export function Component() {
  const t = useTexts("home");
  const clusters = useClusters();
  const [search, setSearch] = useSearchParams();
  const mine = search.get("show") === "mine";
  const { user } = useSession();
  const fleet = useFleet().data;
  if (clusters.error && !clusters.data) {
    return (
      <Page title={t("title")}>
        <Failed error={clusters.error} retry={() => void clusters.refetch()} />
      </Page>
    );
  }
  if (!clusters.data) {
    return (
      <Page title={t("title")} flush>
        <Skeleton padded lines={8} />
      </Page>
    );
  }
  if (clusters.data.clusters.length === 0) return <FirstTime />;
  const shown = clusters.data.clusters.filter((c) => !mine || c.owner === user);
  const sorted = sortOut(shown, mine ? [] : (fleet?.problems ?? []));
  const which = (
    <Segment
      label={t("which")}
      value={mine ? "mine" : "all"}
      onChange={(v) => setSearch(v === "mine" ? { show: "mine" } : {}, { replace: true })}
      options={[
        { value: "mine", label: t("mine") },
        { value: "all", label: t("all") },
      ]}
    />
  );
  return (
    <Page title={<Headline sorted={sorted} />} windowTitle={t("title")} tools={which} close>
      <div className={layout.stack}>
        <Fleet clusters={shown} stale={Boolean(clusters.data.stale)} />
        <div className={layout.cols}>
          <div className={layout.stack}>
            <NeedsYou sorted={sorted} />
            <OnTheMove sorted={sorted} />
          </div>
          <div className={layout.stack}>
            <RoomLeft />
          </div>
        </div>
      </div>
    </Page>
  );
}

/** The page in one breath. */
function Headline({ sorted }: { sorted: Sorted }) {
  const t = useTexts("home");
  const { needs, problems, moving, fine, unknown } = sorted;
  const waiting = needs.length + problems.length;
  const parts = [
    waiting > 0 ? t("needYou", { n: waiting }) : t("nothingNeedsYou"),
    moving.length > 0 && t("areMoving", { n: moving.length }),
    fine.length > 0 && t(moving.length > 0 ? "areFine" : "allFine", { n: fine.length }),
    unknown.length > 0 && t("areUnknown", { n: unknown.length }),
  ];
  return <>{parts.filter(Boolean).join(" ")}</>;
}

function Fleet({ clusters, stale }: { clusters: readonly Summary[]; stale: boolean }) {
  const t = useTexts("home");
  if (clusters.length === 0) return <p className={layout.soft}>{t("noneOfYours")}</p>;
  const stones = clusters.map((c): Stone => ({ namespace: c.namespace, name: c.name, phase: c.phase, state: nodesOf(c, t), flag: Boolean(c.problems?.length) }));
  return <Stones stones={stones} stale={stale} />;
}

/** A few words for a stone: how many nodes are there, while they change. */
function nodesOf(c: Summary, t: ReturnType<typeof useTexts<"home">>): string | undefined {
  if (c.problems?.length) return t("fileWrong");
  const counts = (c.phase === "Provisioning" || c.phase === "Updating") && c.nodes.wanted > 0;
  return counts ? t("nodesOf", { ready: c.nodes.ready, wanted: c.nodes.wanted }) : undefined;
}
