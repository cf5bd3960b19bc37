import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import { Icon, type IconName } from "../Icon/Icon";
import { Mark, type MarkKind } from "../Mark/Mark";
import css from "./Banner.module.css";

export type Tone = "busy" | "ok" | "wait" | "error" | "gone";

/** The tone that goes with a mark. */
export const toneOf: Readonly<Record<MarkKind, Tone>> = { running: "ok", progress: "busy", pending: "wait", error: "error", deleting: "gone", stale: "gone" };

/**
 * One sentence about the state of the page, and what helps. At most two actions. It is announced when its sentence changes, so running times belong into
 * <Span>, which is silent. flush lies it over the whole width, above the page's head.
 */
export function Banner({ tone, mark, icon, children, help, actions, flush }: {
  tone: Tone;
  mark?: MarkKind;
  icon?: IconName;
  children: ReactNode;
  help?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
}) {
  return (
    <div className={cx(css.banner, css[tone], flush && css.flush)}>
      {mark ? <Mark kind={mark} className={css.sign} /> : <Icon name={icon ?? "info"} className={css.sign} />}
      <div className={css.text} role="status">
        <p>{children}</p>
        {help && <p>{help}</p>}
      </div>
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
  );
}
