import { expect, test } from "vitest";
import { tellsSince } from "./standing";

test.each([
  ["at its end", "0 of 1 control-plane nodes ready; shop-cp-1 waits for its disk since 05:32", true],
  ["on another day", "Waiting for addresses since 30 Nov 23:59; trying again", true],
  ["not at all", "Running; 2 of 2 nodes ready", false],
  ["in a name alone", "since-05 waits for its disk", false],
] as const)("the sentence says since when: %s", (_, message, want) => expect(tellsSince(message)).toBe(want));
