import type { ReactNode } from "react";
import css from "./FootBar.module.css";

/** The bar at the foot of a form: its buttons, the reason why they cannot be pressed, and at the right what they will commit. */
export function FootBar({ children, reason, note }: { children: ReactNode; reason?: ReactNode; note?: ReactNode }) {
  return (
    <div className={css.foot}>
      {children}
      {reason}
      <span className={css.spring} />
      {note && <p className={css.note}>{note}</p>}
    </div>
  );
}
