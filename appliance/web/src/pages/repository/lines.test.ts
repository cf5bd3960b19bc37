import { expect, test } from "vitest";
import { inTwo } from "./lines";

test("what is wrong stands below where it is", () => {
  expect(inTwo("clusters/web/shop/claim.yaml:11: spec.replica: unknown field\nnothing was taken")).toBe(
    "clusters/web/shop/claim.yaml:11\n  spec.replica: unknown field\nnothing was taken",
  );
});
