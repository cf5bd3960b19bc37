import { expect, test } from "vitest";
import { pressing, problemAt } from "./problems";

const problems = [
  { path: "clusters/web/shop/claim.yaml", line: 9, field: "spec.pools[1].replicas", message: "must be at most 500" },
  { path: "clusters/web/shop/claim.yaml", field: "metadata.name", message: "required" },
];

test("a field has the problems of what is below it", () => {
  expect(problemAt(problems, "spec.pools")).toBe("Must be at most 500.");
  expect(problemAt(problems, "spec.pools[1]")).toBe("Must be at most 500.");
  expect(problemAt(problems, "spec.pools[0]")).toBeUndefined();
  expect(problemAt(problems, "spec.p")).toBeUndefined();
});

test("a name that is not given yet is no problem yet", () => {
  expect(pressing(problems, true)).toHaveLength(2);
  expect(pressing(problems, false)).toHaveLength(1);
});
