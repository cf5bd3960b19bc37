import type { Phase } from "@/api/types";

/** Worst first: what needs a person comes before what moves, and that before what is fine. */
export const phases: readonly Phase[] = ["Error", "Pending", "Provisioning", "Updating", "Deleting", "Unknown", "Running", "Deleted"];

/** What has a namespace, in groups of namespaces by name, each in the order it came. */
export function groupByNamespace<S extends { namespace: string }>(stones: readonly S[]): { namespace: string; stones: S[] }[] {
  const groups = new Map<string, S[]>();
  for (const s of stones) groups.set(s.namespace, [...(groups.get(s.namespace) ?? []), s]);
  return [...groups].map(([namespace, list]) => ({ namespace, stones: list })).sort((a, b) => a.namespace.localeCompare(b.namespace, "en", { numeric: true }));
}

/** How many are in each phase, worst first; phases without any are left out. */
export function countByPhase(stones: readonly { phase: Phase }[]): { phase: Phase; count: number }[] {
  return phases.map((phase) => ({ phase, count: stones.filter((s) => s.phase === phase).length })).filter((c) => c.count > 0);
}
