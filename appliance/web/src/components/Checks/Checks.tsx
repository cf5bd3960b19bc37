import type { ReactNode } from "react";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { Icon } from "../Icon/Icon";
import { Mark } from "../Mark/Mark";
import css from "./Checks.module.css";

/** ok and no are answers, warn is worth a look, locked is not allowed, wait is under way, todo is still to come. */
export type CheckState = "ok" | "warn" | "no" | "locked" | "wait" | "todo";

export interface CheckItem {
  state: CheckState;
  text: ReactNode;
  detail?: ReactNode;
}

const order: Readonly<Record<CheckState, number>> = { no: 0, warn: 1, locked: 2, wait: 3, ok: 4, todo: 5 };

/** What was checked, failures first; ordered keeps the order as it is given, where it is a course of things. */
export function Checks({ items, ordered }: { items: readonly CheckItem[]; ordered?: boolean }) {
  const t = useTexts("common");
  const said = { ok: t("checkOk"), warn: t("checkWarn"), no: t("checkNo"), locked: t("checkLocked"), wait: t("checkWait"), todo: t("checkTodo") };
  const list = ordered ? items : items.toSorted((a, b) => order[a.state] - order[b.state]);
  return (
    <ul className={css.checks}>
      {list.map((item, i) => (
        <li key={i}>
          <CheckMark state={item.state} />
          <span className={css.words}>
            <span className={layout.sr}>{said[item.state]} </span>
            {item.text}
            {item.detail && <small>{item.detail}</small>}
          </span>
        </li>
      ))}
    </ul>
  );
}

function CheckMark({ state }: { state: CheckState }) {
  switch (state) {
    case "ok":
      return <Icon name="check" className={css.ok} />;
    case "warn":
      return <Icon name="alert" className={css.warn} />;
    case "no":
      return <Icon name="x" className={css.no} />;
    case "locked":
      return <Icon name="lock" className={css.locked} />;
    case "wait":
      return <Mark kind="pending" className={css.mark} />;
    default:
      return <Mark kind="stale" className={css.mark} />;
  }
}
