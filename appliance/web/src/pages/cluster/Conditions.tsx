import type { Condition, Detail } from "@/api";
import { type CheckItem, Checks, English, Panel, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useTexts } from "@/i18n";

/** The order in which a new cluster makes them true. */
const order = ["Rendered", "InGit", "Allocated", "Applied", "Available", "UpToDate"];

/** What is true of a cluster, and of what is not, why. */
export function Conditions({ cluster }: { cluster: Detail }) {
  const t = useTexts("cluster");
  const conditions = cluster.conditions ?? [];
  if (conditions.length === 0) {
    return null;
  }
  const place = (c: Condition) => (order.includes(c.type) ? order.indexOf(c.type) : order.length);
  const items = conditions
    .toSorted((a, b) => place(a) - place(b))
    .map((c): CheckItem => ({ state: stateOf(c), text: t.maybe(`condition${c.type}`) ?? c.type, detail: <Why condition={c} /> }));
  return (
    <Panel title={cluster.phase === "Running" ? t("conditionsAll") : t("conditions")}>
      <Checks items={items} ordered />
    </Panel>
  );
}

function stateOf(c: Condition): CheckItem["state"] {
  if (c.status === "True") {
    return "ok";
  }
  return c.status === "False" ? "wait" : "todo";
}

function Why({ condition }: { condition: Condition }) {
  const t = useTexts("cluster");
  if (condition.status === "True") {
    return condition.since === undefined ? null : t.rich("conditionSince", { time: <Time at={condition.since} /> });
  }
  return <English>{asSentence(condition.message ?? "")}</English>;
}
