import { describe, expect, it, test } from "vitest";
import type { Summary } from "@/api/types";
import { askAddress, changeAddress, clusterAddress, filterAddress } from "./addresses";
import { branchesOf } from "./branches";
import { best } from "./find";
import { arrowStep, keyOf } from "./keymap";

const plain = { ctrlKey: false, metaKey: false, altKey: false, repeat: false };
const free = { typing: false, letters: true, afterG: false, covered: false };

test.each([
  ["Ctrl K finds, in a field too", { ...plain, key: "k", ctrlKey: true }, { ...free, typing: true }, "find"],
  ["/ finds", { ...plain, key: "/" }, free, "find"],
  ["a letter in a field is a letter", { ...plain, key: "n" }, { ...free, typing: true }, undefined],
  ["a letter does nothing when letters are off", { ...plain, key: "n" }, { ...free, letters: false }, undefined],
  ["a letter does nothing under a dialog", { ...plain, key: "l" }, { ...free, covered: true }, undefined],
  ["N is a new cluster", { ...plain, key: "n" }, free, "new"],
  ["Ctrl N is the browser's", { ...plain, key: "n", ctrlKey: true }, free, undefined],
  ["G waits for a number", { ...plain, key: "g" }, free, "go"],
  ["a number after G is a page", { ...plain, key: "3" }, { ...free, afterG: true }, "page3"],
  ["a number alone is nothing", { ...plain, key: "3" }, free, undefined],
  ["Ctrl Enter presses the filled button", { ...plain, key: "Enter", ctrlKey: true }, { ...free, typing: true }, "submit"],
  ["a key that is held does it once", { ...plain, key: "l", repeat: true }, free, undefined],
] as const)("%s", (_, event, situation, want) => expect(keyOf(event, situation)).toBe(want));

test("arrows go along a row or a column", () => {
  expect([arrowStep("ArrowRight", "row"), arrowStep("ArrowLeft", "row"), arrowStep("ArrowDown", "row")]).toEqual([1, -1, 0]);
  expect([arrowStep("ArrowDown", "column"), arrowStep("ArrowUp", "column"), arrowStep("ArrowLeft", "column")]).toEqual([1, -1, 0]);
});

describe("the palette", () => {
  const names = ["web/shop-staging", "web/shop", "data/warehouse", "lab/workshop"];
  const find = (typed: string) => best(names, (n) => n, typed, 3);
  it("takes the beginning of words before their middle", () => expect(find("shop")).toEqual(["web/shop-staging", "web/shop", "lab/workshop"]));
  it("takes the whole name first", () => expect(find("web/shop")[0]).toBe("web/shop"));
  it("wants every word", () => expect(find("web stag")).toEqual(["web/shop-staging"]));
  it("shows the first of all when nothing is typed", () => expect(find("")).toHaveLength(3));
});

test("the tree is by namespace and name, with numbers as numbers", () => {
  const list = ["web/shop-10", "web/shop-2", "data/x"].map((n) => ({ namespace: n.split("/")[0], name: n.split("/")[1] }) as Summary);
  const shown = (filter: string) => branchesOf(list, filter).map((b) => `${b.namespace}: ${b.clusters.map((c) => c.name).join(" ")}`);
  expect(shown("")).toEqual(["data: x", "web: shop-2 shop-10"]);
  expect(shown("Web/")).toEqual(["web: shop-2 shop-10"]);
  expect(shown("nothing")).toEqual([]);
});

test("addresses", () => {
  const shop = { namespace: "web", name: "shop" };
  expect(clusterAddress(shop, "nodes")).toBe("/clusters/web/shop/nodes");
  expect(askAddress(shop, "scale")).toBe("/clusters/web/shop/scale");
  expect(changeAddress({ commit: "a41f09c", clusters: [shop] })).toBe("/clusters/web/shop/changes?commit=a41f09c");
  expect(changeAddress({ commit: "a41f09c", clusters: [] })).toBe("/changes/a41f09c");
  expect(filterAddress("phase:error owner:me")).toBe("/clusters?q=phase%3Aerror%20owner%3Ame");
});
