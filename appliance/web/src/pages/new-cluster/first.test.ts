import { expect, test } from "vitest";
import type { Network } from "@/api";
import { firstForm, withVersion } from "./first";

const network = (name: string, free: number): Network => ({
  name,
  bridge: "vmbr0",
  subnet: "10.0.40.0/24",
  gateway: "10.0.40.1",
  nodes: { total: 10, used: 10 - free, free },
  endpoints: { total: 10, used: 10 - free, free },
});

const fleet = {
  namespaces: ["web", "data"],
  classes: [{ name: "kubeadm-1", distribution: "kubeadm", versions: ["v1.36.3", "v1.36.2"] }],
  versions: [],
  networks: [network("full", 0), network("lan", 5)],
  sizes: [],
};

test("the form opens with the usual size, the newest version and a network with room", () => {
  const form = firstForm(fleet, undefined);
  expect(form).toMatchObject({ namespace: "web", class: "kubeadm-1", version: "v1.36.3", network: "lan" });
  expect(form.controlPlane.replicas).toBe(3);
  expect(form.pools[0]?.replicas).toBe(2);
});

test("the address may name the namespace, and a Fleet may be empty", () => {
  expect(firstForm(fleet, "lab").namespace).toBe("lab");
  expect(firstForm({ namespaces: [], classes: [], versions: [], networks: [], sizes: [] }, undefined)).toMatchObject({ namespace: "", class: "", version: "", network: "" });
});

test("a version that becomes known later is taken, and one that was chosen stays", () => {
  const form = firstForm({ ...fleet, classes: [{ name: "kubeadm-1", distribution: "kubeadm" }] }, undefined);
  expect(form.version).toBe("");
  expect(withVersion(form, fleet).version).toBe("v1.36.3");
  expect(withVersion({ ...form, version: "v1.36.2" }, fleet).version).toBe("v1.36.2");
});
