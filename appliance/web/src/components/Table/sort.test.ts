import { expect, test } from "vitest";
import { sorted, toggled } from "./sort";

const columns = [{ key: "n", compare: (a: { n: number }, b: { n: number }) => a.n - b.n }, { key: "plain" }];
const rows = [{ n: 2 }, { n: 1 }, { n: 3 }];

test("a column turns its order round when it is pressed again", () => {
  expect(toggled(undefined, "n")).toEqual({ key: "n" });
  expect(toggled({ key: "n" }, "n")).toEqual({ key: "n", descending: true });
  expect(toggled({ key: "n", descending: true }, "other")).toEqual({ key: "other" });
});

test("rows are ordered by a column that compares, and left as they are by others", () => {
  expect(sorted(rows, columns, { key: "n" }).map((r) => r.n)).toEqual([1, 2, 3]);
  expect(sorted(rows, columns, { key: "n", descending: true }).map((r) => r.n)).toEqual([3, 2, 1]);
  expect(sorted(rows, columns, { key: "plain" })).toBe(rows);
});
