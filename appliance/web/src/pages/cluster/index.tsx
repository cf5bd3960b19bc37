import { Outlet, useParams } from "react-router";
import { type ClusterAnswer, isApiError, useCluster } from "@/api";
import { type Crumb, Failed, Page, PhaseBadge, Skeleton, TabLinks } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress, filterAddress } from "@/shell/addresses";
import { ClusterNotFound } from "../not-found/ClusterNotFound";
import { ClusterToolbar } from "./ClusterToolbar";

/** A cluster's page: its head, its actions and its tabs. The tabs' own pages are below it. */
export function Component() {
  const { namespace = "", name = "" } = useParams();
  const query = useCluster(namespace, name);
  const crumbs = useClusterCrumbs(namespace, name);
  if (query.data !== undefined) {
    return <ClusterPage answer={query.data} crumbs={crumbs} />;
  }
  if (isApiError(query.error, 404)) {
    return <ClusterNotFound namespace={namespace} name={name} />;
  }
  return (
    <Page title={name} windowTitle={`${namespace}/${name}`} crumbs={crumbs}>
      {query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />}
    </Page>
  );
}

/** useClusterCrumbs is the way to a cluster's page; further crumbs make it the way to a page below. */
export function useClusterCrumbs(namespace: string, name: string, below?: string): Crumb[] {
  const t = useTexts("cluster");
  const way: Crumb[] = [
    { label: t("clusters"), to: "/clusters" },
    { label: namespace, to: filterAddress(`namespace:${namespace}`) },
    { label: name, to: below === undefined ? undefined : clusterAddress({ namespace, name }) },
  ];
  return below === undefined ? way : [...way, { label: below }];
}

function ClusterPage({ answer, crumbs }: { answer: ClusterAnswer; crumbs: Crumb[] }) {
  const t = useTexts("cluster");
  const { cluster } = answer;
  const at = (tab?: "nodes" | "changes" | "access" | "events" | "file") => clusterAddress(cluster, tab);
  return (
    <Page
      title={cluster.name}
      windowTitle={`${cluster.namespace}/${cluster.name}`}
      crumbs={crumbs}
      badge={<PhaseBadge phase={cluster.phase} stale={answer.stale !== undefined} />}
      tools={<ClusterToolbar answer={answer} />}
      tabs={
        <TabLinks
          label={t("tabs")}
          tabs={[
            { to: at(), label: t("overview"), end: true },
            { to: at("nodes"), label: t("nodes"), count: cluster.phase === "Unknown" ? undefined : cluster.nodesList?.length },
            { to: at("changes"), label: t("changes") },
            { to: at("access"), label: t("access") },
            { to: at("events"), label: t("events") },
            { to: at("file"), label: t("file") },
          ]}
        />
      }
    >
      <Outlet context={answer} />
    </Page>
  );
}
