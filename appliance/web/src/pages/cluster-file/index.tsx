import { Code, CopyButton, CopyField, Empty, Panel, Sha, Stack } from "@/components";
import { useTexts } from "@/i18n";
import { commitAddress } from "@/shell/addresses";
import layout from "@/styles/layout.module.css";
import { useClusterPage } from "../cluster/context";
import { ProblemList } from "../problems/ProblemList";

/** The claim's file as people wrote it, and what is wrong with it. */
export function Component() {
  const t = useTexts("clusterFile");
  const { cluster, commit } = useClusterPage();
  const problems = cluster.problems ?? [];
  const path = cluster.fileName ?? `${cluster.path}/claim.yaml`;
  if (cluster.file === undefined || cluster.file === "") {
    return <Empty title={t("none")}>{t("noneHint")}</Empty>;
  }
  // Lines that somebody has to look at stand out.
  const hot = problems.filter((p) => p.path === path && p.line !== undefined).map((p) => p.line ?? 0);
  return (
    <div className={layout.stack}>
      {problems.length > 0 && (
        <Panel title={t("problems")}>
          <ProblemList problems={problems} />
        </Panel>
      )}
      <div className={layout.cols}>
        <Panel
          flush
          path={path}
          aside={
            <span className={layout.row}>
              {t.rich("asOf", { commit: <Sha commit={commit} to={commitAddress(commit)} /> })}
              <CopyButton value={cluster.file} what={t("theFile")} alone />
            </span>
          }
        >
          <Code text={cluster.file} label={t("file")} hot={hot} />
        </Panel>
        <Panel title={t("edit")}>
          <Stack tight>
            <p>{t("editText")}</p>
            <CopyField wrap value={`git clone ${location.origin}/git/fleet.git`} label={t("cloneLine")} />
          </Stack>
        </Panel>
      </div>
    </div>
  );
}
