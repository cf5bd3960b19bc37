import { expect, test } from "vitest";
import type { Node } from "@/api/types";
import { freeOf, rackOf, shortName, worstLoss } from "./rack";

const node = (name: string, role: Node["role"], proxmoxNode?: string): Node => ({ name, role, proxmoxNode, phase: "Running", ready: true });

const nodes = [
  node("shop-cp-1", "control-plane", "pve2"),
  node("shop-cp-2", "control-plane", "pve1"),
  node("shop-cp-3", "control-plane", "pve3"),
  node("shop-w-1", "worker", "pve1"),
];

test("VMs stand under their Proxmox VE node, those without one at the end", () => {
  expect(rackOf([...nodes, node("shop-w-2", "worker")]).map((s) => [s.node, s.machines.length])).toEqual([
    ["pve1", 2],
    ["pve2", 1],
    ["pve3", 1],
    ["", 1],
  ]);
});

test("the loss of a node is told once all places are known", () => {
  expect(worstLoss(nodes)).toEqual({ controlPlane: 1, workers: 1, survives: true });
  expect(worstLoss([node("a", "control-plane", "pve1")])).toEqual({ controlPlane: 1, workers: 0, survives: false });
  expect(worstLoss([...nodes, node("b", "worker")])).toBeUndefined();
  expect(worstLoss([])).toBeUndefined();
});

test("a node's name loses its cluster's", () => {
  expect(shortName("shop", "shop-cp-1")).toBe("cp-1");
  expect(shortName("shop", "other-cp-1")).toBe("other-cp-1");
});

test("how much memory is free is told where it is known", () => {
  expect(freeOf({ totalBytes: 8, usedBytes: 3 })).toBe(5);
  expect(freeOf({ totalBytes: 8, usedBytes: 8 })).toBe(0);
  expect(freeOf({ totalBytes: 0, usedBytes: 0 })).toBeUndefined();
  expect(freeOf(undefined)).toBeUndefined();
});
