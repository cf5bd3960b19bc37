import { type Detail, type Field, isApiError, type Plan as PlanAnswer, usePlan } from "@/api";
import { Diff, Failed, FitLine, Panel, parseDiff, Plan, PlanSum, Said, Skeleton, Stack } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { ProblemList } from "../problems/ProblemList";
import css from "./PlanView.module.css";

/** What a change would do: whether it fits, to which machine it does what, and what becomes of the file. */
export function PlanView({ cluster, fields, none }: { cluster: Detail; fields: Field[]; /** What to do to see a plan. */ none: string }) {
  const t = useTexts("changePlan");
  const query = usePlan(cluster.namespace, cluster.name, fields);
  if (fields.length === 0) {
    return (
      <Panel title={t("plan")}>
        <p className={layout.soft}>{none}</p>
      </Panel>
    );
  }
  if (query.isError) {
    return <Failed error={query.error} retry={isApiError(query.error, 422) ? undefined : () => void query.refetch()} />;
  }
  return query.data === undefined ? <Skeleton lines={6} /> : <Planned plan={query.data} fileName={cluster.fileName} />;
}

function Planned({ plan, fileName }: { plan: PlanAnswer; fileName: string | undefined }) {
  const t = useTexts("changePlan");
  const changedLines = parseDiff(plan.diff).reduce((sum, f) => sum + Math.max(f.added, f.removed), 0);
  return (
    <Stack>
      {plan.problems !== undefined && plan.problems.length > 0 && (
        <Panel title={t("problems")} live>
          <ProblemList problems={plan.problems} />
        </Panel>
      )}
      <Panel flush live>
        {plan.fit !== undefined && <FitLine ok={plan.fit.ok} message={<Said of={plan.fit} field="message" whole />} />}
        <div className={css.sum}>
          <PlanSum effects={plan.effects} />
        </div>
      </Panel>
      <Panel flush title={t("plan")}>
        <Plan effects={plan.effects} />
      </Panel>
      {plan.diff !== "" && (
        <Panel flush path={fileName} aside={t("changedLines", { n: changedLines })}>
          <Diff text={plan.diff} label={t("diff")} />
        </Panel>
      )}
    </Stack>
  );
}
