import { expect, test } from "vitest";
import type { Phase, Summary } from "@/api/types";
import { low, room } from "./room";
import { progressOf, sortOut } from "./sort-out";

const cluster = (name: string, phase: Phase, over: Partial<Summary> = {}) =>
  ({ namespace: "web", name, path: `clusters/web/${name}`, phase, message: "", nodes: { ready: 2, wanted: 4 }, ...over }) as Summary;

test("clusters are sorted out by what they ask of a person", () => {
  const problem = { path: "clusters/web/typo/cluster.yaml", message: "unknown field" };
  const waits = cluster("waits", "Running", { pending: { commit: "a", subject: "Scale", time: "" } });
  const list = [cluster("typo", "Running", { problems: [problem] }), cluster("full", "Error"), cluster("new", "Provisioning", { since: "2026-11-30T10:00:00Z" }), cluster("newer", "Deleting", { since: "2026-11-30T11:00:00Z" }), cluster("fine", "Running"), cluster("unseen", "Unknown"), waits];
  const sorted = sortOut(list, [problem, { path: "fleet.yaml", message: "no such storage" }]);
  const names = (of: Summary[]) => of.map((c) => c.name);
  expect(names(sorted.needs)).toEqual(["full", "typo"]);
  expect(names(sorted.moving)).toEqual(["newer", "new", "waits"]);
  expect(names(sorted.fine)).toEqual(["fine"]);
  expect(names(sorted.unknown)).toEqual(["unseen"]);
  expect(sorted.problems.map((p) => p.path)).toEqual(["fleet.yaml"]);
});

test("progress is told by nodes while a cluster grows or changes", () => {
  expect(progressOf(cluster("a", "Provisioning"))).toBe(0.5);
  expect(progressOf(cluster("a", "Running"))).toBeUndefined();
  expect(progressOf(cluster("a", "Updating", { nodes: { ready: 0, wanted: 0 } }))).toBeUndefined();
});

test("room is added up, and is low from a tenth on", () => {
  const r = room([{ total: 100, used: 60, ours: 40 }, { total: 100, used: 130, ours: 10 }]);
  expect(r).toEqual({ total: 200, free: 40, ours: 50, others: 140 });
  expect([low(r), low({ ...r, free: 20 }), low({ total: 0, free: 0, ours: 0, others: 0 })]).toEqual([false, true, false]);
});
