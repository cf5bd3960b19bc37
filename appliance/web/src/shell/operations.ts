import type { Change, Summary } from "@/api";

/** The phases in which nothing is being done. */
const still: readonly Summary["phase"][] = ["Running", "Deleted", "Unknown"];

/** The clusters at which something is being done, the newest first. */
export function operationsOf(clusters: readonly Summary[]): Summary[] {
  return clusters.filter((c) => !still.includes(c.phase)).toSorted((a, b) => (b.since ?? "").localeCompare(a.since ?? ""));
}

/** The cluster at which something is being done for a commit: the one that it touched, once the agent has applied it. */
export function movingBy(change: Pick<Change, "state" | "clusters">, clusters: readonly Summary[]): Summary | undefined {
  const [one, another] = change.clusters;
  if (change.state !== "applied" || one === undefined || another !== undefined) return undefined;
  return operationsOf(clusters).find((c) => c.namespace === one.namespace && c.name === one.name);
}
