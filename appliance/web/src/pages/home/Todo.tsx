import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Problem, Summary } from "@/api";
import { Button, Mark, type MarkKind, markOf, Meter, Panel, Said, Span, Time } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress, filterAddress } from "@/shell/addresses";
import css from "./Todo.module.css";
import { progressOf, type Sorted } from "./sort-out";

/** How many of each are listed; the rest is a link to the list. */
const most = 8;

/** What only a person can solve. */
export function NeedsYou({ sorted: { needs, problems } }: { sorted: Sorted }) {
  const t = useTexts("home");
  const count = needs.length + problems.length;
  if (count === 0) {
    return (
      <Panel title={t("needsYou")}>
        <p>{t("nothingToDo")}</p>
      </Panel>
    );
  }
  return (
    <Panel title={t("needsYou")} aside={count} flush>
      <ul className={css.todo}>
        {problems.map((p) => (
          <Item key={`${p.path}:${p.line}:${p.message}`} mark="error" detail={<Where problem={p} />}>
            {t("fleetProblem")}
          </Item>
        ))}
        {needs.slice(0, most).map((c) => (
          <Need key={`${c.namespace}/${c.name}`} cluster={c} />
        ))}
      </ul>
      {needs.length > most && <Rest n={needs.length - most} filter="phase:error" />}
    </Panel>
  );
}

function Need({ cluster: c }: { cluster: Summary }) {
  const t = useTexts("home");
  const problem = c.problems?.[0];
  const to = problem ? clusterAddress(c, "file") : clusterAddress(c);
  return (
    <Item
      mark={c.phase === "Error" ? "error" : "pending"}
      detail={problem ? <Where problem={problem} /> : c.since && t.rich("since", { time: <Time at={c.since} /> })}
      side={
        <Button small to={to}>
          {problem ? t("openFile") : t("open")}
        </Button>
      }
    >
      {t.rich(problem ? "problem" : "message", { cluster: <Name cluster={c} />, message: <Said of={c} field="message" /> })}
    </Item>
  );
}

/** What moves by itself. */
export function OnTheMove({ sorted: { moving } }: { sorted: Sorted }) {
  const t = useTexts("home");
  if (moving.length === 0) return null;
  return (
    <Panel title={t("onTheMove")} aside={moving.length} flush>
      <ul className={css.todo}>
        {moving.slice(0, most).map((c) => (
          <Move key={`${c.namespace}/${c.name}`} cluster={c} />
        ))}
      </ul>
      {moving.length > most && <Rest n={moving.length - most} filter="" />}
    </Panel>
  );
}

function Move({ cluster: c }: { cluster: Summary }) {
  const t = useTexts("home");
  const progress = progressOf(c);
  const waits = c.pending && (c.phase === "Running" || c.phase === "Unknown") ? c.pending : undefined;
  const side = (
    <span className={css.time}>
      <Span since={waits?.time ?? c.since} />
    </span>
  );
  return (
    <Item mark={waits ? "progress" : markOf(c.phase)} side={side}>
      {waits
        ? t.rich("waitsForAgent", { cluster: <Name cluster={c} />, subject: waits.subject })
        : t.rich("message", { cluster: <Name cluster={c} />, message: <span className={css.soft}><Said of={c} field="message" /></span> })}
      {progress !== undefined && <Meter value={progress} label={t("progress", { cluster: `${c.namespace}/${c.name}`, ready: c.nodes.ready, wanted: c.nodes.wanted })} />}
    </Item>
  );
}

function Name({ cluster: c }: { cluster: Summary }) {
  return (
    <Link to={clusterAddress(c)} className={css.name}>
      {c.namespace}/{c.name}
    </Link>
  );
}

function Item({ mark, detail, side, children }: { mark: MarkKind; detail?: ReactNode; side?: ReactNode; children: ReactNode }) {
  return (
    <li>
      <Mark kind={mark} />
      <div className={css.words}>
        <div>{children}</div>
        {detail && <small>{detail}</small>}
      </div>
      {side && <div className={css.side}>{side}</div>}
    </li>
  );
}

function Where({ problem: p }: { problem: Problem }) {
  return (
    <>
      <code>{p.line ? `${p.path}:${p.line}` : p.path}</code> {p.field ? `${p.field}: ` : ""}
      <Said of={p} field="message" />
    </>
  );
}

function Rest({ n, filter }: { n: number; filter: string }) {
  const t = useTexts("home");
  return (
    <p className={css.rest}>
      <Link to={filter ? filterAddress(filter) : "/clusters?sort=phase"}>{t("rest", { n })}</Link>
    </p>
  );
}
