import { cx } from "@/styles/classes";
import css from "./Meter.module.css";

/** How far something is, from 0 to 1. slow draws it amber. */
export function Meter({ value, label, slow }: { value: number; label: string; slow?: boolean }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <svg className={cx(css.meter, slow && css.slow)} role="progressbar" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100} aria-label={label}>
      <rect width={`${percent}%`} height="100%" rx="3" />
    </svg>
  );
}
