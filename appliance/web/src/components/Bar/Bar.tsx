import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import css from "./Bar.module.css";

/** used by clusters, other: by other guests, new: by this change; full and low are used where little or nothing is left. */
export type BarKind = "used" | "other" | "new" | "full" | "low";

export interface BarPart {
  kind: BarKind;
  /** From 0 to 1 of the whole. */
  share: number;
}

/** What of something is used, and by whom. The label says it in words with numbers. */
export function Bar({ label, parts }: { label: string; parts: readonly BarPart[] }) {
  let from = 0;
  return (
    <svg className={css.bar} role="img" aria-label={label}>
      {parts.map((p, i) => {
        const width = Math.max(0, Math.min(p.share, 1 - from)) * 100;
        const x = from * 100;
        from += width / 100;
        return <rect key={i} className={css[p.kind]} x={`${x}%`} width={`${width}%`} height="100%" />;
      })}
    </svg>
  );
}

/** Bars below each other. side is for a narrow panel, node for short names. */
export function Bars({ layout, children }: { layout?: "side" | "node"; children: ReactNode }) {
  return <div className={cx(css.bars, layout && css[layout])}>{children}</div>;
}

/** A bar between its name and its value. */
export function BarRow({ name, value, label, parts }: { name: ReactNode; value: ReactNode; label: string; parts: readonly BarPart[] }) {
  return (
    <div className={css.row}>
      <span className={css.name}>{name}</span>
      <Bar label={label} parts={parts} />
      <span className={css.value}>{value}</span>
    </div>
  );
}

/** What the colours of bars mean. */
export function Legend({ entries }: { entries: readonly { kind: "used" | "other" | "new" | "free"; label: string }[] }) {
  return (
    <ul className={css.legend}>
      {entries.map((e) => (
        <li key={e.kind}>
          <span className={cx(css.key, css[`key-${e.kind}`])} />
          {e.label}
        </li>
      ))}
    </ul>
  );
}
