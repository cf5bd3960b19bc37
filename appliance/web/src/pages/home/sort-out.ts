import type { Phase, Problem, Summary } from "@/api";

/** The clusters by what they ask of a person. */
export interface Sorted {
  /** Something is wrong, and only a person can help. */
  needs: Summary[];
  /** Problems of the fleet that belong to no cluster shown. */
  problems: Problem[];
  /** Something is being done, or is about to be. */
  moving: Summary[];
  fine: Summary[];
  /** The agent has not looked at them yet. */
  unknown: Summary[];
}

const moves: readonly Phase[] = ["Pending", "Provisioning", "Updating", "Deleting"];

/** Sorts out what needs a person, what moves by itself, and what is fine. Errors come before problems of files; what moves is in the order in which it began, the newest first. */
export function sortOut(clusters: readonly Summary[], problems: readonly Problem[]): Sorted {
  const sorted: Sorted = { needs: [], problems: [], moving: [], fine: [], unknown: [] };
  for (const c of clusters) sorted[placeOf(c)].push(c);
  sorted.needs.sort((a, b) => Number(b.phase === "Error") - Number(a.phase === "Error"));
  sorted.moving.sort((a, b) => (b.since ?? "").localeCompare(a.since ?? ""));
  sorted.problems = problems.filter((p) => !clusters.some((c) => p.path === c.path || p.path.startsWith(`${c.path}/`)));
  return sorted;
}

function placeOf(c: Summary): "needs" | "moving" | "fine" | "unknown" {
  if (c.phase === "Error" || c.problems?.length) return "needs";
  if (moves.includes(c.phase) || c.pending) return "moving";
  return c.phase === "Unknown" ? "unknown" : "fine";
}

/** How far a cluster is, from 0 to 1; undefined where nodes do not tell. */
export function progressOf(c: Summary): number | undefined {
  if (c.nodes.wanted === 0 || (c.phase !== "Provisioning" && c.phase !== "Updating")) return undefined;
  return Math.min(1, c.nodes.ready / c.nodes.wanted);
}
