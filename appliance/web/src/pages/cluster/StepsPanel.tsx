import type { Phase, Step } from "@/api";
import { Panel, Said, Span, Steps } from "@/components";
import { useTexts } from "@/i18n";
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
          detail: s.message !== undefined && <Said of={s} field="message" />,
          time: s.started === undefined || s.state === "todo" ? undefined : <Span since={s.started} until={s.state === "done" ? (s.ended ?? s.started) : s.ended} />,
        }))}
      />
    </Panel>
  );
}
