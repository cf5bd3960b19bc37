import { Link } from "react-router";
import { useClusterChanges } from "@/api";
import { CommitList, Panel, Time } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress, commitAddress } from "@/shell/addresses";
import layout from "@/styles/layout.module.css";
import { ClusterRack } from "../cluster-nodes/ClusterRack";
import { ProblemList } from "../problems/ProblemList";
import { AskedFor } from "./AskedFor";
import { Conditions } from "./Conditions";
import { useClusterPage } from "./context";
import { StatusBanner } from "./StatusBanner";
import { StepsPanel } from "./StepsPanel";

/** The overview: one sentence, the way there with its times, and what was asked for. */
export function Component() {
  const t = useTexts("cluster");
  const answer = useClusterPage();
  const { cluster } = answer;
  const settled = cluster.phase === "Running" || cluster.phase === "Deleted";
  const nodes = cluster.nodesList ?? [];
  const steps = cluster.steps !== undefined && cluster.steps.length > 0 && <StepsPanel phase={cluster.phase} steps={cluster.steps} />;
  return (
    <div className={layout.stack}>
      <StatusBanner answer={answer} />
      {cluster.problems !== undefined && cluster.problems.length > 0 && (
        <Panel title={t("problems")}>
          <ProblemList problems={cluster.problems} />
        </Panel>
      )}
      <div className={layout.cols}>
        <div className={layout.stack}>
          {!settled && steps}
          {nodes.length > 0 && (
            <Panel title={t("whereItRuns")} aside={<Link to={clusterAddress(cluster, "nodes")}>{t("showNodes")}</Link>}>
              <ClusterRack cluster={cluster.name} nodes={nodes} />
            </Panel>
          )}
          <NewestChanges namespace={cluster.namespace} name={cluster.name} />
          {settled && steps}
        </div>
        <div className={layout.stack}>
          <AskedFor cluster={cluster} />
          <Conditions cluster={cluster} />
        </div>
      </div>
    </div>
  );
}

const few = 4;

function NewestChanges({ namespace, name }: { namespace: string; name: string }) {
  const t = useTexts("cluster");
  const changes = useClusterChanges(namespace, name, few).data?.changes ?? [];
  if (changes.length === 0) {
    return null;
  }
  return (
    <Panel flush title={t("newestChanges")} aside={<Link to={clusterAddress({ namespace, name }, "changes")}>{t("allChanges")}</Link>}>
      <CommitList
        label={t("newestChanges")}
        entries={changes.slice(0, few).map((c) => ({
          commit: c.commit,
          title: c.subject,
          by: c.user ?? c.author,
          when: <Time at={c.time} />,
          to: commitAddress(c.commit),
        }))}
      />
    </Panel>
  );
}
