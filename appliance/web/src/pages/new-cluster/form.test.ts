import { expect, test } from "vitest";
import { freePoolName, hotLines, machineOf, mistakeInName, mistakeInNamespace, specOf, versionsOf, type NewClusterForm } from "./form";
import { presetOf, presetsOf, withPreset } from "./presets";

const sizes = [
  { name: "large", cpu: 8, memory: "16Gi", disk: "80Gi" },
  { name: "tiny", cpu: 1, memory: "1Gi", disk: "10Gi" },
  { name: "small", cpu: 2, memory: "4Gi", disk: "40Gi" },
];
const small = machineOf(sizes[2]);
const form: NewClusterForm = {
  namespace: "web",
  name: "shop",
  class: "kubeadm-1",
  version: "v1.36.3",
  network: "lan",
  endpoint: "",
  controlPlane: { replicas: 3, machine: small },
  pools: [{ key: "workers", name: "workers", replicas: 2, machine: small }],
  nodes: [],
  storage: "",
  podCIDR: "",
  serviceCIDR: "",
};

test("what is left open is left out of the file", () => {
  expect(specOf(form)).toEqual({
    class: "kubeadm-1",
    version: "v1.36.3",
    network: "lan",
    endpoint: "",
    controlPlane: { replicas: 3, size: "small" },
    workers: { replicas: 2, size: "small" },
  });
});

test("what was chosen under Advanced is in the file", () => {
  const own = { size: "", cpu: 6, memory: 12, disk: 100 };
  const spec = specOf({
    ...form,
    endpoint: " 10.0.40.13 ",
    pools: [
      { key: "1", name: "workers", replicas: 2, machine: small },
      { key: "2", name: "gpu", replicas: 1, machine: own },
    ],
    nodes: ["pve1"],
    storage: "ceph-vm",
    podCIDR: "10.200.0.0/16",
    serviceCIDR: "10.201.0.0/16",
  });
  expect(spec).toMatchObject({ endpoint: "10.0.40.13", nodes: ["pve1"], storage: "ceph-vm", podCIDR: "10.200.0.0/16", serviceCIDR: "10.201.0.0/16" });
  expect(spec.workers).toBeUndefined();
  expect(spec.pools).toEqual([
    { name: "workers", replicas: 2, size: "small" },
    { name: "gpu", replicas: 1, cpu: 6, memory: "12Gi", disk: "100Gi" },
  ]);
});

test("a cluster may have no workers, or one pool with a name", () => {
  expect(specOf({ ...form, pools: [] })).not.toHaveProperty("workers");
  expect(specOf({ ...form, pools: [{ key: "1", name: "gpu", replicas: 1, machine: small }] }).pools).toHaveLength(1);
});

test("presets take the smallest sizes that kubeadm runs on", () => {
  const [trial, standard, large] = presetsOf(sizes);
  expect(trial?.controlPlane).toEqual({ replicas: 1, machine: small });
  expect(standard?.workers).toEqual({ replicas: 2, machine: small });
  expect(large?.workers.machine.size).toBe("large");
});

test("without sizes in the Fleet presets have numbers of their own", () => {
  const [trial] = presetsOf([]);
  expect(specOf(withPreset(form, trial!)).controlPlane).toEqual({ replicas: 1, cpu: 2, memory: "4Gi", disk: "40Gi" });
});

test("a form is a preset until somebody changes its machines", () => {
  const presets = presetsOf(sizes);
  expect(presetOf(form, presets)?.name).toBe("standard");
  for (const preset of presets) {
    expect(presetOf(withPreset(form, preset), presets)?.name).toBe(preset.name);
  }
  expect(presetOf({ ...form, controlPlane: { replicas: 5, machine: small } }, presets)).toBeUndefined();
  expect(presetOf({ ...form, pools: [] }, presets)).toBeUndefined();
});

test.each([
  ["web", "", "missing"],
  ["web", "Shop", "label"],
  ["web", "shop-", "label"],
  ["web", "blog", "taken"],
  ["web", "a".repeat(48), "long"],
  ["web", "shop", undefined],
] as const)("%s/%s is %s", (namespace, name, mistake) => {
  expect(mistakeInName(namespace, name, new Set(["web/blog"]))).toBe(mistake);
});

test.each([
  ["", "missing"],
  ["Web", "label"],
  ["kube-system", "own"],
  ["default", "own"],
  ["web", undefined],
] as const)("namespace %s is %s", (namespace, mistake) => {
  expect(mistakeInNamespace(namespace)).toBe(mistake);
});

test("pools get names that are free", () => {
  expect(freePoolName([])).toBe("workers");
  expect(freePoolName(form.pools)).toBe("pool-2");
  expect(freePoolName([...form.pools, { ...form.pools[0]!, name: "pool-2" }])).toBe("pool-3");
});

test("a class names its versions, else all that are known count", () => {
  const fleet = { classes: [{ name: "kubeadm-1", distribution: "kubeadm", versions: ["v1.36.3"] }, { name: "x", distribution: "x" }], versions: ["v1.37.0", "v1.36.3"] };
  expect(versionsOf(fleet, "kubeadm-1")).toEqual(["v1.36.3"]);
  expect(versionsOf(fleet, "x")).toEqual(["v1.37.0", "v1.36.3"]);
});

test("the lines that are new in a file are hot", () => {
  expect(hotLines(undefined, "a\nb")).toEqual([]);
  expect(hotLines("a\nb\n", "a\nc\nb\n")).toEqual([2]);
  expect(hotLines("x: 1\nx: 1\n", "x: 1\nx: 1\nx: 1\n")).toEqual([3]);
  expect(hotLines("a", "a")).toEqual([]);
});
