import { Empty, Panel } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { useClusterPage } from "../cluster/context";
import { StatusBanner } from "../cluster/StatusBanner";
import { ClusterRack } from "./ClusterRack";
import { NodeTable } from "./NodeTable";
import { type Loss, worstLoss } from "./rack";

/** The nodes: where their VMs are, their addresses, and the commit that made each. */
export function Component() {
  const t = useTexts("clusterNodes");
  const answer = useClusterPage();
  const { cluster } = answer;
  const nodes = cluster.nodesList ?? [];
  const loss = worstLoss(nodes);
  return (
    <div className={layout.stack}>
      <StatusBanner answer={answer} />
      {nodes.length === 0 ? (
        <Empty title={cluster.phase === "Deleted" ? t("deleted") : t("none")}>{cluster.phase === "Deleted" ? null : t("noneHint")}</Empty>
      ) : (
        <>
          <ClusterRack cluster={cluster.name} nodes={nodes} />
          <Panel flush>
            <NodeTable nodes={nodes} />
          </Panel>
          {loss !== undefined && <LossLine loss={loss} />}
        </>
      )}
    </div>
  );
}

function LossLine({ loss }: { loss: Loss }) {
  const t = useTexts("clusterNodes");
  return <p className={cx(layout.soft, layout.small)}>{loss.survives ? t("lossSurvives", { n: loss.workers }) : t("lossStops")}</p>;
}
