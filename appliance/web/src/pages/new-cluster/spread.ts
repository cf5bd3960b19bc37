import type { Capacity } from "@/api/types";
import type { Numbers } from "../quantity";

/** Share is how a Proxmox VE node's memory would stand with a new cluster. */
export interface Share {
  name: string;
  totalBytes: number;
  usedBytes: number;
  newBytes: number;
}

/** Machines are so many VMs of one size. */
export interface Machines {
  count: number;
  memoryBytes: number;
}

/** spread puts each VM where the most memory is free, as Cluster API's provider does; where it is put in the end is decided then. Nodes whose memory the
 * person may not see are left out. */
export function spread(nodes: Capacity["nodes"], machines: Machines[]): Share[] {
  const shares = nodes
    .filter((n) => n.online && n.memory.totalBytes > 0)
    .map((n) => ({ name: n.name, totalBytes: n.memory.totalBytes, usedBytes: n.memory.usedBytes, newBytes: 0 }));
  for (const { count, memoryBytes } of machines) {
    for (let i = 0; i < count; i++) {
      const freest = shares.reduce<Share | undefined>((a, b) => (a === undefined || freeOf(b) > freeOf(a) ? b : a), undefined);
      if (freest !== undefined) {
        freest.newBytes += memoryBytes;
      }
    }
  }
  return shares.toSorted((a, b) => a.name.localeCompare(b.name));
}

/** freeOf is the memory that stays free on a node, in bytes; negative where it does not fit. */
export function freeOf(share: Share): number {
  return share.totalBytes - share.usedBytes - share.newBytes;
}

/** machinesOf is a list of machines for spread, without those of no size. */
export function machinesOf(parts: { replicas: number; one: Numbers }[]): Machines[] {
  return parts.map((p) => ({ count: p.replicas, memoryBytes: p.one.memoryBytes })).filter((m) => m.memoryBytes > 0);
}
