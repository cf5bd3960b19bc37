import { expect, test } from "vitest";
import { baseAfter, shown } from "./conflict";

const conflict = { field: "spec.workers.replicas", was: 2, theirs: 3, yours: 4 };

test("whoever was told of a conflict has seen its commit", () => {
  expect(baseAfter([conflict, { ...conflict, commit: "abc" }], "base")).toBe("abc");
});

test("where nobody knows who it was, the base stays", () => {
  expect(baseAfter([conflict, { ...conflict, commit: "" }], "base")).toBe("base");
});

test("values are shown as people read them", () => {
  expect(shown(3)).toBe("3");
  expect(shown(null)).toBeUndefined();
  expect(shown(undefined)).toBeUndefined();
  expect(shown(["a", "b"])).toBe('["a","b"]');
});
