import { expect, test } from "vitest";
import type { Change, Summary } from "@/api/types";
import { movingBy, operationsOf } from "./operations";

const cluster = (name: string, phase: Summary["phase"], since = ""): Summary => ({
  namespace: "web", name, path: "", phase, since, message: "", wantedVersion: "", nodes: { ready: 0, wanted: 2 }, class: "", network: "", endpoint: "", can: {},
});
const clusters = [cluster("shop", "Provisioning", "2026-12-01T05:32:00Z"), cluster("blog", "Running"), cluster("old", "Deleting", "2026-12-01T05:33:00Z")];

test("the newest of what is being done is first, and what stands still is left out", () => {
  expect(operationsOf(clusters).map((c) => c.name)).toEqual(["old", "shop"]);
});

test.each([
  ["applied, and the cluster is on the move", "applied", ["shop"], "shop"],
  ["applied, and the cluster stands still", "applied", ["blog"], undefined],
  ["it waits for the agent", "waiting", ["shop"], undefined],
  ["it touched more than one", "applied", ["shop", "old"], undefined],
  ["it touched none", "applied", [], undefined],
  ["it touched one that is not shown", "applied", ["hidden"], undefined],
] as [string, Change["state"], string[], string | undefined][])("what moves for a commit: %s", (_, state, names, want) => {
  expect(movingBy({ state, clusters: names.map((name) => ({ namespace: "web", name })) }, clusters)?.name).toBe(want);
});
