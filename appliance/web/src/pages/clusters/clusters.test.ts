import { describe, expect, it, test } from "vitest";
import type { Summary } from "@/api/types";
import { filtered, suggestions, toggleValue, valuesOf } from "./filter";
import { memoryOf } from "./memory";

const cluster = (over: Partial<Summary>) =>
  ({ namespace: "web", name: "shop", phase: "Running", message: "All 5 nodes are ready.", wantedVersion: "v1.36.3", owner: "alice@ldap", ...over }) as Summary;

const all = [
  cluster({}),
  cluster({ name: "shop-10", phase: "Error", message: "Storage on pve3 is full.", owner: "bob@pve" }),
  cluster({ namespace: "data", name: "warehouse", version: "v1.35.6+rke2r1", wantedVersion: "v1.36.3" }),
];

test.each([
  ["", ["shop", "shop-10", "warehouse"]],
  ["shop", ["shop", "shop-10"]],
  ["WEB/Shop-1", ["shop-10"]],
  ["phase:error", ["shop-10"]],
  ["phase:error phase:running", ["shop", "shop-10", "warehouse"]],
  ["owner:me", ["shop", "warehouse"]],
  ["owner:bob", ["shop-10"]],
  ["owner:bob@pve", ["shop-10"]],
  ["namespace:web full", ["shop-10"]],
  ["version:v1.36", ["shop", "shop-10"]],
  ["version:v1.3", []],
  ["version:v1.35.6", ["warehouse"]],
  ['"phase:error"', []],
  ["phase:", ["shop", "shop-10", "warehouse"]],
  ["shop-10 pha", ["shop-10"]],
  ["nothing", []],
])("the filter %s finds %s", (text, want) => {
  expect(filtered(all, text, "alice@ldap").map((c) => c.name)).toEqual(want);
});

describe("a filter", () => {
  it("takes a value in, and out again", () => {
    expect(toggleValue("shop", "phase", "Error")).toBe("shop phase:error");
    expect(toggleValue("shop phase:error owner:me", "phase", "error")).toBe("shop owner:me");
  });
  it("offers fields, then their values, newest versions first", () => {
    expect(suggestions("", all)).toEqual(["phase:", "owner:", "namespace:", "version:"]);
    expect(suggestions("shop ph", all)).toEqual(["shop phase:"]);
    expect(suggestions("shop phase:e", all)).toEqual(["shop phase:error"]);
    expect(suggestions("owner:", all)).toEqual(["owner:me", "owner:alice@ldap", "owner:bob@pve"]);
    expect(valuesOf(all, "version")).toEqual(["v1.36.3", "v1.35.6+rke2r1"]);
  });
});

test("the memory of a cluster is that of its machines, by size or by number", () => {
  const sizes = [{ name: "small", cpu: 2, memory: "4Gi", disk: "40Gi" }];
  const spec = { class: "kubeadm-1", version: "v1.36.3", network: "lan", endpoint: "", controlPlane: { replicas: 3, size: "small" }, pools: [{ name: "big", replicas: 2, memory: "16Gi" }] };
  expect(memoryOf(spec, sizes)).toBe((3 * 4 + 2 * 16) * 2 ** 30);
  expect(memoryOf({ ...spec, controlPlane: { replicas: 1, size: "gone" } }, sizes)).toBeUndefined();
});
