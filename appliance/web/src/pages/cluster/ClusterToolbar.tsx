import { useState } from "react";
import { type ClusterAnswer, useClusterChanges, useKubeconfig } from "@/api";
import { type Action, Failed, Toolbar, useDone, useRefusal } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress } from "@/shell/addresses";
import { UndoDialog } from "../cluster-changes/UndoDialog";
import css from "./ClusterToolbar.module.css";
import { gone, upgradesOf } from "./standing";

/** What may be done to a cluster. What may not be says why: first what the person lacks, then what the cluster lacks. */
export function ClusterToolbar({ answer }: { answer: ClusterAnswer }) {
  const t = useTexts("cluster");
  const { cluster } = answer;
  const name = `${cluster.namespace}/${cluster.name}`;
  const [undoing, setUndoing] = useState(false);
  const newest = useClusterChanges(cluster.namespace, cluster.name, 1).data?.changes[0];
  const kubeconfig = useKubeconfigAction(answer);
  const going = gone(cluster) ? t("deletingNow", { cluster: name }) : undefined;
  const unreadable = cluster.spec === undefined ? t("notReadable") : undefined;
  const refusal = useRefusal();
  const mayChange = refusal(cluster.can.change);
  const actions: Action[] = [
    kubeconfig.action,
    { key: "scale", label: t("scale"), icon: "scale", apart: true, to: clusterAddress(cluster, "scale"), reason: mayChange ?? going ?? unreadable },
    {
      key: "upgrade",
      label: t("upgrade"),
      icon: "upgrade",
      to: clusterAddress(cluster, "upgrade"),
      reason: mayChange ?? going ?? unreadable ?? (upgradesOf(cluster)?.length === 0 ? t("noUpgrade", { version: cluster.wantedVersion }) : undefined),
    },
    { key: "undo", label: t("undo"), icon: "undo", onSelect: () => setUndoing(true), reason: mayChange ?? (newest === undefined ? t("noUndo") : refusal(newest.undo)) },
    {
      key: "delete",
      label: t("delete"),
      icon: "trash",
      danger: true,
      to: clusterAddress(cluster, "delete"),
      reason: refusal(cluster.can.delete ?? cluster.can.change) ?? going,
    },
  ];
  return (
    <div className={css.tools}>
      <Toolbar label={t("toolbar", { cluster: name })} actions={actions} />
      {kubeconfig.error !== null && <Failed error={kubeconfig.error} />}
      {newest !== undefined && <UndoDialog change={newest} cluster={cluster} open={undoing} onOpenChange={setUndoing} />}
    </div>
  );
}

function useKubeconfigAction({ cluster }: ClusterAnswer): { action: Action; error: Error | null } {
  const t = useTexts("cluster");
  const done = useDone();
  const download = useKubeconfig(cluster.namespace, cluster.name);
  const refusal = useRefusal();
  const waits = ["Pending", "Provisioning", "Unknown"].includes(cluster.phase) || gone(cluster);
  const action: Action = {
    key: "kubeconfig",
    label: t("kubeconfig"),
    icon: "download",
    busy: download.isPending,
    reason: refusal(cluster.can.kubeconfig) ?? (waits ? t("kubeconfigWaits") : undefined),
    onSelect: () => download.mutate(undefined, { onSuccess: () => done(t("kubeconfigDone", { cluster: `${cluster.namespace}/${cluster.name}` })) }),
  };
  return { action, error: download.error };
}
