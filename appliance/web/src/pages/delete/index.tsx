import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { type ClusterAnswer, type Detail, isApiError, useCluster, useDeleteCluster, usePlan, useSession } from "@/api";
import { Banner, Button, Diff, Failed, Field, FootBar, Input, Page, Panel, PhaseBadge, Reason, Skeleton, useDone, useRefusal, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress } from "@/shell/addresses";
import layout from "@/styles/layout.module.css";
import { useClusterCrumbs } from "../cluster";
import { gone } from "../cluster/standing";
import { ClusterNotFound } from "../not-found/ClusterNotFound";
import { Afterwards } from "./Afterwards";
import { WhatDies } from "./WhatDies";

/** Deleting a cluster, on a page of its own: what dies, what follows, the commit, and the name to type. Ctrl Enter does nothing here. */
export function Component() {
  const t = useTexts("delete");
  const { namespace = "", name = "" } = useParams();
  const query = useCluster(namespace, name);
  const crumbs = useClusterCrumbs(namespace, name, t("crumb"));
  if (query.data !== undefined) {
    return <DeletePage answer={query.data} />;
  }
  if (isApiError(query.error, 404)) {
    return <ClusterNotFound namespace={namespace} name={name} />;
  }
  return (
    <Page title={t("title", { cluster: `${namespace}/${name}` })} crumbs={crumbs}>
      {query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />}
    </Page>
  );
}

const tombstone = [{ path: "spec.state", value: "Deleted" }];

function DeletePage({ answer }: { answer: ClusterAnswer }) {
  const t = useTexts("delete");
  const { cluster } = answer;
  const full = `${cluster.namespace}/${cluster.name}`;
  const [typed, setTyped] = useState("");
  const remove = useDelete(cluster);
  const crumbs = useClusterCrumbs(cluster.namespace, cluster.name, t("crumb"));
  const going = gone(cluster);
  const diff = usePlan(cluster.namespace, cluster.name, going ? [] : tombstone).data?.diff;
  const refusal = useRefusal();
  const reason = refusal(cluster.can.delete ?? cluster.can.change) ?? (going ? t("already", { cluster: full }) : undefined) ?? (typed === full ? undefined : t("typeFirst"));
  return (
    <Page
      title={t("title", { cluster: full })}
      crumbs={crumbs}
      badge={<PhaseBadge phase={cluster.phase} stale={answer.stale !== undefined} />}
      foot={
        <FootBar reason={reason !== undefined && <Reason id="delete-reason">{reason}</Reason>} note={t("commits", { cluster: full, user: useSession().user })}>
          <Button variant="dangerSolid" icon="trash" reason={reason} reasonId="delete-reason" busy={remove.isPending} onClick={remove.run}>
            {t("button")}
          </Button>
          <Button to={clusterAddress(cluster)}>{t("cancel")}</Button>
        </FootBar>
      }
    >
      <div className={layout.stack}>
        <Warning cluster={cluster} />
        {remove.error !== null && <Failed error={remove.error} />}
        <div className={layout.cols}>
          <div className={layout.stack}>
            <WhatDies cluster={cluster} />
            {diff !== undefined && diff !== "" && (
              <Panel flush path={cluster.fileName} aside={t("marked")}>
                <Diff text={diff} label={t("diff")} />
              </Panel>
            )}
          </div>
          <div className={layout.stack}>
            <Afterwards cluster={cluster} />
            {!going && (
              <Field label={t.rich("confirm", { cluster: <strong className={layout.mono}>{full}</strong> })}>
                <Input mono value={typed} onChange={(e) => setTyped(e.target.value)} />
              </Field>
            )}
          </div>
        </div>
      </div>
    </Page>
  );
}

function Warning({ cluster }: { cluster: Detail }) {
  const t = useTexts("delete");
  const say = useWords();
  const { resources } = cluster;
  if (gone(cluster)) {
    return (
      <Banner tone="gone" mark="deleting">
        {t("already", { cluster: `${cluster.namespace}/${cluster.name}` })}
      </Banner>
    );
  }
  const known = resources !== undefined && resources.vms > 0;
  return (
    <Banner
      tone="error"
      icon="alert"
      help={t("helps")}
      actions={
        <Button icon="scale" to={clusterAddress(cluster, "scale")}>
          {t("scaleInstead")}
        </Button>
      }
    >
      {known ? t("warning", { n: resources.vms, disk: say.bytes(resources.diskBytes) }) : t("warningUnknown")}
    </Banner>
  );
}

/** Deletes once, and then shows the cluster on its way out. */
function useDelete(cluster: Detail) {
  const t = useTexts("delete");
  const done = useDone();
  const navigate = useNavigate();
  const full = `${cluster.namespace}/${cluster.name}`;
  const mutation = useDeleteCluster(cluster.namespace, cluster.name);
  const run = () =>
    mutation.mutate(
      { confirm: cluster.name },
      {
        onSuccess: (made) => {
          done(t("done", { commit: made.commit.slice(0, 7), cluster: full }));
          void navigate(clusterAddress(cluster));
        },
      },
    );
  return { run, isPending: mutation.isPending, error: mutation.error };
}
