import type { ReactNode } from "react";
import { Icon } from "../Icon/Icon";
import { Mark, type MarkKind } from "../Mark/Mark";
import css from "./Reason.module.css";

/** A quiet line that says why something is as it is, with an i or the mark of a state before it. */
export function Reason({ children, id, mark }: { children: ReactNode; id?: string; mark?: MarkKind }) {
  return (
    <p className={css.reason} id={id}>
      {mark ? <Mark kind={mark} className={css.mark} /> : <Icon name="info" />}
      <span>{children}</span>
    </p>
  );
}
