import { expect, test } from "vitest";
import { matching } from "./matching";

const events = [
  { time: "2026-01-02T10:00:00Z", what: "commit", user: "alice@pve", on: "web/shop", detail: "Scale workers of web/shop to 4" },
  { time: "2026-01-02T09:00:00Z", what: "commit", user: "bob@pve", on: "web/blog", refused: "changing web/blog takes VM.Allocate" },
];

test("every word has to be somewhere", () => {
  expect(matching(events, "web", "all")).toHaveLength(2);
  expect(matching(events, "ALICE scale", "all")).toEqual([events[0]]);
  expect(matching(events, "alice blog", "all")).toEqual([]);
  expect(matching(events, "  ", "all")).toHaveLength(2);
});

test("refusals can be looked at alone", () => {
  expect(matching(events, "", "refused")).toEqual([events[1]]);
});
