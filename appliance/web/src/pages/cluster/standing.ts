import type { Detail, Phase, Step, Summary } from "@/api";

/** gone tells whether a cluster is on its way out, by what Git wants or by what is so. */
export function gone(cluster: Pick<Summary, "phase" | "spec">): boolean {
  return cluster.phase === "Deleting" || cluster.phase === "Deleted" || cluster.spec?.state === "Deleted";
}

/** upgradesOf are the versions that a cluster may be raised to; undefined where the server does not say. */
export function upgradesOf(cluster: Detail): string[] | undefined {
  return cluster.upgrades;
}

/** Course is which way a cluster's steps are told: as what happens, or as what happened. */
export type Course = "creating" | "updating" | "deleting" | "steps" | "how";

const courses: Partial<Record<Phase, Course>> = { Pending: "creating", Provisioning: "creating", Updating: "updating", Deleting: "deleting", Error: "steps" };

/** courseOf is what a cluster's steps are called. */
export function courseOf(phase: Phase, steps: Step[]): Course {
  const course = courses[phase];
  return course ?? (steps.some((s) => s.state === "current" || s.state === "failed") ? "steps" : "how");
}

/** stepNumber is the step that is under way or failed, from 1; undefined when all are done, or none has begun. */
export function stepNumber(steps: Step[]): number | undefined {
  const at = steps.findIndex((s) => s.state === "current" || s.state === "failed");
  return at < 0 ? undefined : at + 1;
}

/** tellsSince tells whether the agent's sentence says itself since when it is so, or a part of it: "shop-1 waits for its boot since 14:32". */
export function tellsSince(message: string): boolean {
  return / since (\d{1,2} [A-Z][a-z]{2} )?\d{2}:\d{2}/.test(message);
}
