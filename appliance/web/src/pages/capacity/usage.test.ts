import { expect, test } from "vitest";
import type { ClusterClaimSpec, Summary } from "@/api/types";
import { usageOf } from "./usage";

const gib = 1024 ** 3;
const sizes = [{ name: "small", cpu: 2, memory: "4Gi", disk: "40Gi" }];
const spec = (replicas: number): ClusterClaimSpec => ({
  class: "kubeadm-1",
  version: "v1.36.3",
  network: "lan",
  endpoint: "10.0.40.10",
  controlPlane: { replicas, size: "small" },
});
const cluster = (namespace: string, wanted?: ClusterClaimSpec): Summary => ({
  namespace,
  name: "x",
  path: "",
  phase: "Running",
  message: "",
  wantedVersion: "",
  nodes: { ready: 0, wanted: 0 },
  class: "",
  network: "",
  endpoint: "",
  spec: wanted,
  can: { change: { ok: true }, delete: { ok: true }, kubeconfig: { ok: true } },
});

test("namespaces are summed up, the greediest first", () => {
  const usage = usageOf([cluster("a", spec(1)), cluster("b", spec(3)), cluster("b", spec(1)), cluster("c", undefined)], sizes);
  expect(usage.map((u) => [u.namespace, u.clusters, u.vms, u.memoryBytes])).toEqual([
    ["b", 2, 4, 16 * gib],
    ["a", 1, 1, 4 * gib],
  ]);
});
