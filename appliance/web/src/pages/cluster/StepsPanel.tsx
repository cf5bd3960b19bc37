import type { Phase, Step } from "@/api";
import { Panel, Said, Sha, Span, Steps } from "@/components";
import { useTexts } from "@/i18n";
import { commitAddress } from "@/shell/addresses";
import { courseOf, stepNumber } from "./standing";

/** The way of what happens to a cluster, in order, with the time each step took. */
export function StepsPanel({ phase, steps }: { phase: Phase; steps: Step[] }) {
  const t = useTexts("cluster");
  const at = stepNumber(steps);
  const aside = at === undefined ? t("stepsDone", { n: steps.length }) : t("stepOf", { step: at, all: steps.length });
  return (
    <Panel flush title={t(courseOf(phase, steps))} aside={steps.every((s) => s.state === "todo") ? undefined : aside}>
      <Steps
        steps={steps.map((s) => ({
          name: <Said of={s} field="name" />,
          state: s.state,
          detail: (s.commit ?? s.message) !== undefined && <Detail of={s} />,
          time: s.started === undefined || s.state === "todo" ? undefined : <Span since={s.started} until={s.state === "done" ? (s.ended ?? s.started) : s.ended} />,
        }))}
      />
    </Panel>
  );
}

/** What came of a step, what it waits for, or what is to come. */
function Detail({ of }: { of: Step }) {
  const t = useTexts("cluster");
  if (of.commit !== undefined) {
    return t.rich("stepCommit", { commit: <Sha commit={of.commit} to={commitAddress(of.commit)} />, by: of.by ?? "" });
  }
  return <Said of={of} field="message" />;
}
