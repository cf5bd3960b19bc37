import type { Capacity } from "@/api";
import type { BarPart } from "@/components";

/** Amounts is how much there is of something, how much is used, and how much of that by Kubehenge's clusters. */
export interface Amounts {
  totalBytes: number;
  usedBytes: number;
  kubehengeBytes: number;
}

/** isSeen tells whether Proxmox VE shows the person a node's memory. It lists nodes without it to whoever may not see more; one that is offline has none. */
export function isSeen(node: Capacity["nodes"][number]): boolean {
  return !node.online || node.memory.totalBytes > 0;
}

/** Less than this share free is full, and needs somebody. */
const fullBelow = 0.05;

/** isFull tells whether almost nothing is left. */
export function isFull({ totalBytes, usedBytes }: Amounts): boolean {
  return totalBytes > 0 && (totalBytes - usedBytes) / totalBytes < fullBelow;
}

/** partsOf are the parts of a bar: the clusters' first, then everybody else's. What is given to clusters may be more than what is used now. */
export function partsOf(amounts: Amounts): BarPart[] {
  const { totalBytes, usedBytes, kubehengeBytes } = amounts;
  if (totalBytes <= 0) {
    return [];
  }
  const ours = Math.min(kubehengeBytes, usedBytes);
  return [
    { kind: isFull(amounts) ? "full" : "used", share: ours / totalBytes },
    { kind: "other", share: Math.max(0, usedBytes - ours) / totalBytes },
  ];
}

/** ofTotal is a part before its whole, without its unit where both have the same: "101" before "128 GB". */
export function ofTotal(part: string, whole: string): string {
  const [number, unit] = part.split(" ");
  return number !== undefined && unit !== undefined && whole.endsWith(` ${unit}`) ? number : part;
}
