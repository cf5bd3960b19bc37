import { expect, test } from "vitest";
import { isFull, isSeen, ofTotal, partsOf } from "./parts";

test("a bar has the clusters' part and the others'", () => {
  expect(partsOf({ totalBytes: 100, usedBytes: 60, kubehengeBytes: 40 })).toEqual([
    { kind: "used", share: 0.4 },
    { kind: "other", share: 0.2 },
  ]);
});

test("clusters are given more than they use now", () => {
  expect(partsOf({ totalBytes: 100, usedBytes: 30, kubehengeBytes: 40 }).map((p) => p.share)).toEqual([0.3, 0]);
});

test("what is full is drawn so", () => {
  const full = { totalBytes: 100, usedBytes: 97, kubehengeBytes: 80 };
  expect(isFull(full)).toBe(true);
  expect(partsOf(full)[0]?.kind).toBe("full");
});

test("what is not known has no parts, and is not full", () => {
  const none = { totalBytes: 0, usedBytes: 0, kubehengeBytes: 0 };
  expect(partsOf(none)).toEqual([]);
  expect(isFull(none)).toBe(false);
});

test("a unit that both have is said once", () => {
  expect(ofTotal("101 GB", "128 GB")).toBe("101");
  expect(ofTotal("512 MB", "4 GB")).toBe("512 MB");
  expect(ofTotal("1.000", "4 GB")).toBe("1.000");
});

test("a node without memory is one that the person may not see, unless it is offline", () => {
  const node = { name: "pve1", online: true, cpu: { total: 0, used: 0 }, memory: { totalBytes: 0, usedBytes: 0, kubehengeBytes: 0 } };
  expect(isSeen(node)).toBe(false);
  expect(isSeen({ ...node, online: false })).toBe(true);
  expect(isSeen({ ...node, memory: { ...node.memory, totalBytes: 1 } })).toBe(true);
});
