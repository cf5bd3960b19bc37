import { expect, test } from "vitest";
import type { ClusterClaimSpec } from "@/api/types";
import { bytesOf, needsOf, workerPools } from "./quantity";

const gib = 1024 ** 3;
const sizes = [
  { name: "small", cpu: 2, memory: "4Gi", disk: "40Gi" },
  { name: "medium", cpu: 4, memory: "8Gi", disk: "80Gi" },
];
const spec: ClusterClaimSpec = {
  class: "kubeadm-1",
  version: "v1.36.3",
  network: "lan",
  endpoint: "10.0.40.10",
  controlPlane: { replicas: 3, size: "small" },
};

test.each([
  ["4Gi", 4 * gib],
  ["1.5Gi", 1.5 * gib],
  ["512Mi", 512 * 1024 ** 2],
  ["2G", 2e9],
  ["100", 100],
  ["", 0],
  ["lots", 0],
])("%s is %d bytes", (quantity, bytes) => {
  expect(bytesOf(quantity)).toBe(bytes);
});

test("workers and pools are needed besides the control plane", () => {
  expect(needsOf(spec, sizes)).toEqual({ vms: 3, cpu: 6, memoryBytes: 12 * gib, diskBytes: 120 * gib });
  expect(needsOf({ ...spec, workers: { replicas: 2, size: "medium" } }, sizes)).toMatchObject({ vms: 5, cpu: 14 });
  const pools = [
    { name: "a", replicas: 1, size: "small" },
    { name: "b", replicas: 2, cpu: 8, memory: "16Gi", disk: "100Gi" },
  ];
  expect(needsOf({ ...spec, pools }, sizes)).toEqual({ vms: 6, cpu: 24, memoryBytes: 48 * gib, diskBytes: 360 * gib });
});

test("a cluster that is to be deleted needs nothing", () => {
  expect(needsOf({ ...spec, state: "Deleted" }, sizes).vms).toBe(0);
});

test("each pool has its place in the claim", () => {
  expect(workerPools({ ...spec, workers: { replicas: 2 } }).map((p) => p.place)).toEqual(["spec.workers"]);
  const pools = [
    { name: "a", replicas: 1 },
    { name: "b", replicas: 2 },
  ];
  expect(workerPools({ ...spec, pools }).map((p) => p.place)).toEqual(["spec.pools[0]", "spec.pools[1]"]);
});
