import type { Change, ClusterName } from "@/api";

/** The address of a cluster's page, or of one of its tabs. */
export function clusterAddress({ namespace, name }: ClusterName, tab?: "nodes" | "changes" | "access" | "events" | "file" | "delete"): string {
  const page = `/clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return tab ? `${page}/${tab}` : page;
}

/** The questions that a cluster's page asks in a dialog; the address opens it. */
export type Question = "scale" | "upgrade";

/** The cluster's page with a question open, so that it can be asked from anywhere. */
export function askAddress(cluster: ClusterName, question: Question): string {
  return `${clusterAddress(cluster)}?do=${question}`;
}

/** Where a change is shown: at its cluster where it changed one, else at the repository. */
export function changeAddress(change: Pick<Change, "commit" | "clusters">): string {
  const cluster = change.clusters[0];
  const page = cluster && change.clusters.length === 1 ? clusterAddress(cluster, "changes") : "/repository";
  return `${page}?commit=${change.commit}`;
}

/** The list of clusters with a filter. */
export function filterAddress(filter: string): string {
  return `/clusters?q=${encodeURIComponent(filter)}`;
}
