import { expect, test } from "vitest";
import { upgradesFrom, upgradeStep } from "./versions";

test.each([
  ["v1.36.2", "v1.36.3", "patch"],
  ["v1.35.6", "v1.36.0", "minor"],
  ["v1.34.1", "v1.36.0", "further"],
  ["v1.36.3", "v1.36.3", undefined],
  ["v1.36.3", "v1.35.9", undefined],
  ["v1.36.2+k3s1", "v1.36.3+k3s1", "patch"],
  ["v1.36.2", "v1.36.3+k3s1", undefined],
  ["latest", "v1.36.3", undefined],
] as const)("from %s to %s is %s", (from, to, step) => {
  expect(upgradeStep(from, to)).toBe(step);
});

test("no minor version is skipped, and the newest comes first", () => {
  expect(upgradesFrom("v1.35.6", ["v1.35.5", "v1.35.7", "v1.36.10", "v1.36.9", "v1.37.0"])).toEqual(["v1.36.10", "v1.36.9", "v1.35.7"]);
});
