import { expect, test } from "vitest";
import type { ClusterClaimSpec } from "@/api/types";
import { fieldsOf, partsOf, settled, subjectOf, wanting } from "./scale";

const spec: ClusterClaimSpec = {
  class: "kubeadm-1",
  version: "v1.36.3",
  network: "lan",
  endpoint: "10.0.40.10",
  controlPlane: { replicas: 3, size: "small" },
  workers: { replicas: 2, size: "medium" },
};

test("a claim's parts are its control plane and its worker pools", () => {
  expect(partsOf(spec).map((p) => [p.pool, p.place, p.was])).toEqual([
    ["", "spec.controlPlane", 3],
    ["workers", "spec.workers", 2],
  ]);
  expect(partsOf({ ...spec, workers: undefined, pools: [{ name: "gpu", replicas: 1 }] })[1]).toMatchObject({ pool: "gpu", place: "spec.pools[0]" });
});

test("only what changes is asked for", () => {
  const parts = wanting(partsOf(spec), "spec.workers", 4);
  expect(fieldsOf(parts)).toEqual([{ path: "spec.workers.replicas", value: 4 }]);
  expect(subjectOf("web/shop", parts)).toBe("Scale workers of web/shop to 4");
  const both = wanting(parts, "spec.controlPlane", 5);
  expect(subjectOf("web/shop", both)).toBe("Scale web/shop: control plane to 5, workers to 4");
  expect(fieldsOf(partsOf(spec))).toEqual([]);
  expect(subjectOf("web/shop", partsOf(spec))).toBe("");
});

test("a conflict is settled for either side, and is not told again", () => {
  const parts = wanting(partsOf(spec), "spec.workers", 4);
  const conflict = { field: "spec.workers.replicas", was: 2, theirs: 3, yours: 4 };
  expect(settled(parts, conflict, "yours")[1]).toMatchObject({ was: 3, wanted: 4 });
  expect(fieldsOf(settled(parts, conflict, "theirs"))).toEqual([]);
  expect(settled(parts, { ...conflict, field: "spec.version" }, "theirs")).toEqual(parts);
  expect(settled(parts, { ...conflict, theirs: "many" }, "theirs")).toEqual(parts);
});
