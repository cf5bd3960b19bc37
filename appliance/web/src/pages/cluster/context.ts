import { useOutletContext } from "react-router";
import type { ClusterAnswer } from "@/api";

/** useClusterPage is the cluster of the page, below the tabs of a cluster. */
export function useClusterPage(): ClusterAnswer {
  return useOutletContext<ClusterAnswer>();
}
