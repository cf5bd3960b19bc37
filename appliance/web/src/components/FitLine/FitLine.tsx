import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import { Mark } from "../Mark/Mark";
import css from "./FitLine.module.css";

/** Whether something fits, in one sentence. Without a fit it is still being worked out, and message says so. */
export function FitLine({ ok, message }: { ok: boolean | undefined; message: ReactNode }) {
  return (
    <div className={cx(css.line, ok === false && css.bad, ok === undefined && css.open)} aria-live="polite">
      {ok === undefined ? <Mark kind="progress" /> : <Icon name={ok ? "check" : "x"} />}
      <p>{message}</p>
    </div>
  );
}
