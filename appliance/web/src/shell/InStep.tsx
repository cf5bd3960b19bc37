import { Link } from "react-router";
import { useClusters, useFleet } from "@/api";
import { Mark, type MarkKind, Time } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import css from "./InStep.module.css";

/** How far the agent is, in a few words; the way to the repository for those who may see it. */
export function InStep() {
  const state = useStep();
  const repository = useFleet().data?.can.repository?.ok;
  if (!state) return null;
  const inside = (
    <>
      <Mark kind={state.mark} />
      <span>{state.text}</span>
    </>
  );
  return (
    <span className={layout.roomy}>
      {repository ? (
        <Link className={css.step} to="/repository">
          {inside}
        </Link>
      ) : (
        <span className={css.step}>{inside}</span>
      )}
    </span>
  );
}

function useStep(): { mark: MarkKind; text: React.ReactNode } | undefined {
  const t = useTexts("shell");
  const data = useClusters().data;
  if (!data) return undefined;
  const { agent, stale } = data;
  const commit = <span className={css.commit}>{(agent?.commit || data.commit).slice(0, 7)}</span>;
  if (stale) return { mark: "pending", text: t.rich("agentStale", { time: <Time at={stale.since} /> }) };
  if (!agent?.commit) return { mark: "stale", text: t.rich("agentUnknown", { commit }) };
  if (agent.behind) return { mark: "progress", text: t.rich("agentBehind", { n: agent.behind, commit }) };
  return { mark: "running", text: t.rich("agentInStep", { commit }) };
}
