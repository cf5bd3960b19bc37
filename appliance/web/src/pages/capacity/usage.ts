import type { Size, Summary } from "@/api/types";
import { needsOf, type Numbers } from "../quantity";

/** Usage is what a namespace's clusters take, as Git wants it. */
export interface Usage extends Numbers {
  namespace: string;
  clusters: number;
}

/** usageOf sums up what clusters take by namespace, the greediest first. Clusters whose claim cannot be read count as none. */
export function usageOf(clusters: Summary[], sizes: Size[]): Usage[] {
  const sums = new Map<string, Usage>();
  for (const c of clusters) {
    if (c.spec === undefined) {
      continue;
    }
    const needs = needsOf(c.spec, sizes);
    const sum = sums.get(c.namespace);
    sums.set(c.namespace, {
      namespace: c.namespace,
      clusters: (sum?.clusters ?? 0) + (needs.vms > 0 ? 1 : 0),
      vms: (sum?.vms ?? 0) + needs.vms,
      cpu: (sum?.cpu ?? 0) + needs.cpu,
      memoryBytes: (sum?.memoryBytes ?? 0) + needs.memoryBytes,
      diskBytes: (sum?.diskBytes ?? 0) + needs.diskBytes,
    });
  }
  return [...sums.values()].toSorted((a, b) => b.memoryBytes - a.memoryBytes || a.namespace.localeCompare(b.namespace));
}
