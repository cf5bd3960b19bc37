import { Link } from "react-router";
import { type Change, isApiError, type Summary, type Task, useChanges, useTasks } from "@/api";
import { type Column, type MarkKind, markOf, Said, Sha, Span, State, Table, Time, usePhaseWord } from "@/components";
import { useTexts } from "@/i18n";
import { changeAddress, clusterAddress } from "./addresses";
import css from "./Log.module.css";

const marks: Readonly<Record<NonNullable<Change["state"]>, MarkKind>> = { applied: "running", waiting: "progress", refused: "error" };

/** useStateWord says how far the agent is with a commit. */
export function useStateWord(): (change: Change) => string {
  const t = useTexts("shell");
  const words = { applied: t("stateApplied"), waiting: t("stateWaiting"), refused: t("stateRefused") };
  return (c) => (c.state && words[c.state]) ?? t("stateUnknown");
}

/** The newest commits that the person may see. */
export function Commits() {
  const t = useTexts("shell");
  const { data, error } = useChanges();
  const word = useStateWord();
  const columns: Column<Change>[] = [
    { key: "time", head: t("time"), width: "fit", soft: true, cell: (c) => <Time at={c.time} form="log" /> },
    { key: "commit", head: t("commit"), width: "fit", show: "wide", cell: (c) => <Sha commit={c.commit} to={changeAddress(c)} /> },
    { key: "what", head: t("what"), width: "grow", cell: (c) => c.subject },
    { key: "by", head: t("by"), width: "fit", soft: true, show: "wide", cell: (c) => c.user ?? c.author },
    { key: "state", head: t("state"), width: "fit", cell: (c) => <State kind={(c.state && marks[c.state]) ?? "stale"}>{word(c)}</State> },
  ];
  if (!data?.changes.length) return <None text={isApiError(error) ? undefined : data && t("noCommits")} />;
  return <Table label={t("commits")} rows={data.changes} rowKey={(c) => c.commit} columns={columns} dense />;
}

/** What is being done, what it waits for, and for how long. */
export function Operations({ clusters }: { clusters: readonly Summary[] }) {
  const t = useTexts("shell");
  const word = usePhaseWord();
  const columns: Column<Summary>[] = [
    { key: "since", head: t("since"), width: "fit", soft: true, show: "wide", cell: (c) => <Time at={c.since} form="log" /> },
    { key: "cluster", head: t("cluster"), width: "fit", cell: (c) => <Link to={clusterAddress(c)}>{`${c.namespace}/${c.name}`}</Link> },
    { key: "message", head: t("waitsFor"), width: "grow", cell: (c) => <Said of={c} field="message" /> },
    { key: "phase", head: t("state"), width: "fit", show: "wide", cell: (c) => <State kind={markOf(c.phase)}>{word(c.phase)}</State> },
    { key: "for", head: t("for"), width: "fit", number: true, cell: (c) => <Span since={c.since} /> },
  ];
  if (clusters.length === 0) return <None text={t("noOperations")} />;
  return <Table label={t("operations")} rows={clusters} rowKey={(c) => `${c.namespace}/${c.name}`} columns={columns} dense />;
}

/** A task that has not ended. */
export const isRunning = (task: Task) => !task.endtime;

function taskMark(task: Task): MarkKind {
  if (isRunning(task)) return "progress";
  return task.status === "OK" ? "running" : task.status?.startsWith("WARNINGS") ? "pending" : "error";
}

/** The newest tasks of Proxmox VE that the person may see. */
export function Tasks({ tasks }: { tasks: readonly Task[] }) {
  const t = useTexts("shell");
  const { error } = useTasks();
  const columns: Column<Task>[] = [
    { key: "started", head: t("started"), width: "fit", soft: true, cell: (task) => <Time at={task.starttime} form="log" /> },
    { key: "node", head: t("node"), width: "fit", show: "wide", cell: (task) => task.node },
    { key: "task", head: t("task"), width: "grow", cell: (task) => <TaskName task={task} /> },
    { key: "by", head: t("by"), width: "fit", soft: true, show: "wide", cell: (task) => task.user },
    {
      key: "state",
      head: t("state"),
      width: "fit",
      cell: (task) => (
        <State kind={taskMark(task)}>
          {isRunning(task) ? t("taskRuns") : taskMark(task) === "error" ? t("taskFailed") : task.status} <Span since={task.starttime} until={task.endtime || undefined} />
        </State>
      ),
    },
  ];
  if (tasks.length === 0) return <None text={isApiError(error) ? undefined : t("noTasks")} />;
  return <Table label={t("tasks")} rows={tasks} rowKey={(task) => task.upid} columns={columns} dense />;
}

/** What a task does: those of Kubehenge's own machines in words, others as Proxmox VE calls them. Of one that failed, why. */
function TaskName({ task }: { task: Task }) {
  const t = useTexts("shell");
  const name = t("taskOf", { type: t.maybe(`task-${task.type}`) ?? task.type, id: task.id ?? "" });
  return taskMark(task) === "error" ? t("taskWhy", { task: name, why: task.status ?? "" }) : name;
}

function None({ text }: { text?: string }) {
  const t = useTexts("shell");
  return <p className={css.none}>{text ?? t("logUnknown")}</p>;
}
