import type { ReactNode } from "react";
import type { Step } from "@/api";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { Icon } from "../Icon/Icon";
import { Mark } from "../Mark/Mark";
import css from "./Steps.module.css";

export interface StepItem {
  name: ReactNode;
  state: Step["state"];
  detail?: ReactNode;
  /** How long it took or has taken, or usually takes where it is still to come. */
  time?: ReactNode;
  /** It takes longer than usual. */
  slow?: boolean;
}

const looks: Readonly<Record<Step["state"], string | undefined>> = { done: css.done, current: css.now, todo: css.todo, failed: css.failed };

/** The way of something that takes several steps, in order, with their times. */
export function Steps({ steps }: { steps: readonly StepItem[] }) {
  const t = useTexts("common");
  const said = { done: t("stepDone"), current: t("stepNow"), todo: t("stepTodo"), failed: t("stepFailed") };
  return (
    <ol className={css.steps}>
      {steps.map((s, i) => (
        <li key={i} className={cx(css.step, looks[s.state], s.slow && css.slow)} aria-current={s.state === "current" ? "step" : undefined}>
          <span className={css.dot} aria-hidden="true">
            <Dot state={s.state} number={i + 1} />
          </span>
          <div className={css.words}>
            <p className={css.name}>
              <span className={layout.sr}>{said[s.state]} </span>
              {s.name}
            </p>
            {s.detail && <p className={css.detail}>{s.detail}</p>}
          </div>
          <span className={css.time}>{s.time}</span>
        </li>
      ))}
    </ol>
  );
}

function Dot({ state, number }: { state: Step["state"]; number: number }) {
  if (state === "done") return <Icon name="check" />;
  if (state === "failed") return <Icon name="x" />;
  return state === "current" ? <Mark kind="progress" /> : number;
}
