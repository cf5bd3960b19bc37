import { type ClusterName, type Detail, useFleet } from "@/api";

/** tagOf is a cluster in one word, as Proxmox VE's tags, pools and users have it. */
function tagOf(cluster: ClusterName): string {
  return `${cluster.namespace}.${cluster.name}`;
}

/** useClusterPool is the path of the cluster's pool, by whose privileges Proxmox VE decides. A refusal names it; else the Fleet says where it is. */
export function useClusterPool(cluster: Detail): string {
  const workload = useFleet().data?.workloadPool ?? "kubehenge";
  const told = [cluster.can.change, cluster.can.kubeconfig].flatMap((a) => a?.missing ?? [])[0]?.path;
  return told ?? `/pool/${workload}/${tagOf(cluster)}`;
}

/** userOf is the Proxmox VE user that the cluster's own token belongs to. */
export function userOf(cluster: ClusterName): string {
  return `kh-${tagOf(cluster)}@pve`;
}
