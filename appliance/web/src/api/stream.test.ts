import { expect, test } from "vitest";
import { named } from "./stream";

test.each([
  ["what it names", '{"what":["tasks"],"commit":"a41f09c"}', ["tasks"]],
  ["everything where it names nothing", '{"commit":"a41f09c"}', ["clusters", "fleet", "changes", "tasks"]],
  ["everything where it cannot be read", "?", ["clusters", "fleet", "changes", "tasks"]],
])("an event makes old %s", (_, data, want) => expect(named({ data })).toEqual(want));
