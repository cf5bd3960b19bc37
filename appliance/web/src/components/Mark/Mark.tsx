import type { ReactNode } from "react";
import type { Phase } from "@/api";
import { cx } from "@/styles/classes";
import css from "./Mark.module.css";

/** The drawn marks: shape before colour. stale is what nobody has looked at for a while. */
export type MarkKind = "running" | "progress" | "pending" | "error" | "deleting" | "stale";

const kinds: Readonly<Record<Phase, MarkKind>> = {
  Pending: "pending",
  Provisioning: "progress",
  Running: "running",
  Updating: "progress",
  Error: "error",
  Deleting: "deleting",
  Deleted: "deleting",
  Unknown: "stale",
};

/** The mark of a phase. */
export function markOf(phase: Phase): MarkKind {
  return kinds[phase] ?? "stale";
}

const drawings: Readonly<Record<MarkKind, ReactNode>> = {
  running: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  progress: (
    <>
      <circle cx="6" cy="6" r="4.25" fill="none" stroke="currentColor" strokeWidth="1.8" opacity=".28" />
      <path d="M6 1.75A4.25 4.25 0 0 1 10.25 6" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
    </>
  ),
  pending: (
    <>
      <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M6 3.6V6l1.6 1.1" fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" />
    </>
  ),
  error: <path d="M6 .6 11.4 6 6 11.4.6 6z" fill="currentColor" />,
  deleting: (
    <>
      <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M3.8 6h4.4" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
    </>
  ),
  stale: <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" strokeWidth="1.4" strokeDasharray="2 1.6" />,
};

/** A mark without its word, which has to stand beside it. still keeps the ring of progress from turning. */
export function Mark({ kind, still, className }: { kind: MarkKind; still?: boolean; className?: string }) {
  return (
    <svg
      className={cx(css.mark, css[kind], kind === "progress" && !still && css.spin, className)}
      viewBox="0 0 12 12"
      aria-hidden="true"
      focusable="false"
      data-mark={kind}
    >
      {drawings[kind]}
    </svg>
  );
}
