import type { Change, ClusterName } from "@/api";

/** The address of a cluster's page, or of one below it. */
export function clusterAddress({ namespace, name }: ClusterName, tab?: "nodes" | "changes" | "access" | "events" | "file" | "scale" | "upgrade" | "delete"): string {
  const page = `/clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return tab ? `${page}/${tab}` : page;
}

/** The changes of a cluster that are asked for on a page of their own, with what they would do beside them. */
export type Question = "scale" | "upgrade";

/** The page that asks for a change of a cluster, so that it can be asked for from anywhere. */
export function askAddress(cluster: ClusterName, question: Question): string {
  return clusterAddress(cluster, question);
}

/** The page of a commit. */
export function commitAddress(commit: string): string {
  return `/changes/${commit}`;
}

/** Where a change is shown: among those of its cluster where it changed one, else on its own. */
export function changeAddress(change: Pick<Change, "commit" | "clusters">): string {
  const cluster = change.clusters[0];
  return cluster && change.clusters.length === 1 ? `${clusterAddress(cluster, "changes")}?commit=${change.commit}` : commitAddress(change.commit);
}

/** The list of clusters with a filter. */
export function filterAddress(filter: string): string {
  return `/clusters?q=${encodeURIComponent(filter)}`;
}
