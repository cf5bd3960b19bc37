import type { Phase } from "@/api";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import { Mark, type MarkKind, markOf } from "../Mark/Mark";
import css from "./Badge.module.css";

/** A mark and its word on the colour of its state. stale outlines it: the state is from some time ago. */
export function Badge({ kind, children, stale }: { kind: MarkKind; children: string; stale?: boolean }) {
  return (
    <span className={cx(css.badge, css[kind], stale && css.old)}>
      <Mark kind={kind} still={stale} />
      {children}
    </span>
  );
}

/** The phase of a cluster as a badge. */
export function PhaseBadge({ phase, stale }: { phase: Phase; stale?: boolean }) {
  return (
    <Badge kind={markOf(phase)} stale={stale || phase === "Unknown"}>
      {usePhaseWord()(phase)}
    </Badge>
  );
}

/** The word for a phase in the person's language. */
export function usePhaseWord(): (phase: Phase) => string {
  const t = useTexts("common");
  return (phase) => t.maybe(`phase${phase}`) ?? phase;
}

/** A mark and words on a line, where a badge would be too loud. */
export function State({ kind, children, still }: { kind: MarkKind; children: React.ReactNode; still?: boolean }) {
  return (
    <span className={css.state}>
      <Mark kind={kind} still={still} />
      {children}
    </span>
  );
}
