import { expect, test } from "vitest";
import { freeOf, spread } from "./spread";

const node = (name: string, used: number, online = true) => ({
  name,
  online,
  cpu: { total: 8, used: 1 },
  memory: { totalBytes: 100, usedBytes: used, kubehengeBytes: 0 },
});

test("each VM goes where the most memory is free", () => {
  const shares = spread([node("pve2", 50), node("pve1", 10), node("pve3", 0, false)], [{ count: 3, memoryBytes: 20 }]);
  expect(shares.map((s) => [s.name, s.newBytes, freeOf(s)])).toEqual([
    ["pve1", 40, 50],
    ["pve2", 20, 30],
  ]);
});

test("without nodes there is nothing to show", () => {
  expect(spread([], [{ count: 1, memoryBytes: 1 }])).toEqual([]);
});

test("nodes whose memory may not be seen are not taken for full ones", () => {
  const unseen = { ...node("pve1", 0), memory: { totalBytes: 0, usedBytes: 0, kubehengeBytes: 0 } };
  expect(spread([unseen], [{ count: 1, memoryBytes: 1 }])).toEqual([]);
});
