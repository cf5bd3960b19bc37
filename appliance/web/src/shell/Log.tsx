import { Tabs } from "@base-ui/react/tabs";
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { type Summary, useChanges, useClusters, useTasks } from "@/api";
import { Button, Count, Time, usePhaseWord } from "@/components";
import tabs from "@/components/Tabs/Tabs.module.css";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { useKept } from "./kept";
import { Commits, isRunning, Operations, Tasks, useStateWord } from "./LogTables";
import { movingBy, operationsOf } from "./operations";
import css from "./Log.module.css";

const [lowest, first] = [60, 124];

/** What happens, newest first: commits, what the agent is at, and tasks of Proxmox VE. It folds to its tabs. */
export function Log({ folded, onToggle }: { folded: boolean; onToggle: () => void }) {
  const t = useTexts("shell");
  const [tab, setTab] = useState("commits");
  const [height, setHeight] = useKept("log.height", first);
  const clusters = useClusters().data?.clusters ?? [];
  const operations = operationsOf(clusters);
  const tasks = useTasks().data ?? [];
  const running = tasks.filter(isRunning).length;
  const choose = (value: string) => {
    setTab(value);
    if (folded) onToggle();
  };
  return (
    <section className={cx(css.log, folded && css.folded)} aria-label={t("activity")}>
      {!folded && <Edge height={height} onHeight={setHeight} />}
      <Tabs.Root value={tab} onValueChange={(value) => setTab(String(value))}>
        <div className={cx(tabs.tabs, css.tabs)}>
          <Tabs.List className={css.list} aria-label={t("activity")}>
            <Tab value="commits" onChoose={choose}>{t("commits")}</Tab>
            <Tab value="operations" onChoose={choose} count={operations.length}>{t("operations")}</Tab>
            <Tab value="tasks" onChoose={choose} count={running}>{t("tasks")}</Tab>
          </Tabs.List>
          {folded ? <Peek clusters={clusters} /> : <span className={layout.spring} />}
          <Button variant="quiet" small icon={folded ? "up" : "down"} label={folded ? t("showLog") : t("hideLog")} aria-expanded={!folded} onClick={onToggle} />
        </div>
        <div className={css.body} ref={(body) => body?.style.setProperty("--height", `${height}px`)} data-scroll hidden={folded}>
          <Tabs.Panel value="commits"><Commits /></Tabs.Panel>
          <Tabs.Panel value="operations"><Operations clusters={operations} /></Tabs.Panel>
          <Tabs.Panel value="tasks"><Tasks tasks={tasks} /></Tabs.Panel>
        </div>
      </Tabs.Root>
    </section>
  );
}

function Tab({ value, count, onChoose, children }: { value: string; count?: number; onChoose: (value: string) => void; children: string }) {
  return (
    <Tabs.Tab value={value} className={cx(tabs.tab, css.tab)} onClick={() => onChoose(value)}>
      {children}
      {count ? <Count>{count}</Count> : null}
    </Tabs.Tab>
  );
}

/** The newest commit and how far it is, while the log is folded. */
function Peek({ clusters }: { clusters: readonly Summary[] }) {
  const t = useTexts("shell");
  const phase = usePhaseWord();
  const state = useStateWord();
  const change = useChanges().data?.changes[0];
  if (!change) return <span className={layout.spring} />;
  const moving = movingBy(change, clusters);
  return (
    <span className={cx(css.peek, layout.wide)}>
      <Time at={change.time} form="log" />{" "}
      {moving
        ? t("peekMoves", { subject: change.subject, phase: phase(moving.phase), ready: moving.nodes.ready, wanted: moving.nodes.wanted })
        : t("peek", { subject: change.subject, state: state(change) })}
    </span>
  );
}

/** The upper edge, which can be dragged, or moved with the arrow keys. */
function Edge({ height, onHeight }: { height: number; onHeight: (height: number) => void }) {
  const t = useTexts("shell");
  const from = useRef({ y: 0, height: 0 });
  const highest = Math.round(innerHeight * 0.6);
  const set = (h: number) => onHeight(Math.round(Math.min(highest, Math.max(lowest, h))));
  const start = (e: PointerEvent<HTMLDivElement>) => {
    e.currentTarget.setPointerCapture(e.pointerId);
    from.current = { y: e.clientY, height };
  };
  const drag = (e: PointerEvent<HTMLDivElement>) => e.currentTarget.hasPointerCapture(e.pointerId) && set(from.current.height + from.current.y - e.clientY);
  const key = (e: KeyboardEvent) => {
    const step = { ArrowUp: 24, ArrowDown: -24 }[e.key];
    if (step) set(height + step);
  };
  return (
    <div
      className={css.edge}
      role="separator"
      aria-orientation="horizontal"
      aria-label={t("logHeight")}
      aria-valuenow={height}
      aria-valuemin={lowest}
      aria-valuemax={highest}
      tabIndex={0}
      onPointerDown={start}
      onPointerMove={drag}
      onKeyDown={key}
    />
  );
}
