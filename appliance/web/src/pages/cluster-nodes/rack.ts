import type { Node } from "@/api/types";

/** Shelf is a Proxmox VE node and the cluster's VMs on it. */
export interface Shelf {
  /** node is the Proxmox VE node's name; empty where a VM has no place yet. */
  node: string;
  machines: Node[];
}

/** rackOf sorts a cluster's nodes by the Proxmox VE node they are on; what has no place yet comes last. */
export function rackOf(nodes: readonly Node[]): Shelf[] {
  const shelves = new Map<string, Node[]>();
  for (const n of nodes) {
    const at = n.proxmoxNode ?? "";
    shelves.set(at, [...(shelves.get(at) ?? []), n]);
  }
  return [...shelves]
    .map(([node, machines]) => ({ node, machines }))
    .toSorted((a, b) => Number(a.node === "") - Number(b.node === "") || a.node.localeCompare(b.node));
}

/** shortName is a node's name without its cluster's. */
export function shortName(cluster: string, node: string): string {
  return node.startsWith(`${cluster}-`) ? node.slice(cluster.length + 1) : node;
}

/** freeOf is how much memory is free, in bytes; undefined where the person may not see how much there is. */
export function freeOf(memory: { totalBytes: number; usedBytes: number } | undefined): number | undefined {
  return memory === undefined || memory.totalBytes === 0 ? undefined : memory.totalBytes - memory.usedBytes;
}

/** Loss is what the loss of one Proxmox VE node takes from a cluster in the worst case. */
export interface Loss {
  controlPlane: number;
  workers: number;
  /** survives tells whether most control-plane nodes are left, without which etcd and so the API stand still. */
  survives: boolean;
}

/** worstLoss is the worst that one Proxmox VE node's loss can do; undefined where the places are not all known. */
export function worstLoss(nodes: readonly Node[]): Loss | undefined {
  if (nodes.length === 0 || nodes.some((n) => n.proxmoxNode === undefined || n.proxmoxNode === "")) {
    return undefined;
  }
  const most = (role: Node["role"]): number =>
    Math.max(...rackOf(nodes).map((s) => s.machines.filter((m) => m.role === role).length));
  const all = nodes.filter((n) => n.role === "control-plane").length;
  const controlPlane = most("control-plane");
  return { controlPlane, workers: most("worker"), survives: all - controlPlane > all / 2 };
}
