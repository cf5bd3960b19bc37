import { expect, test } from "vitest";
import { asSentence } from "./sentence";

test.each([
  ["a clause begins large and ends with a stop", "not found", "Not found."],
  ["what ends already ends once", "Nothing would change.", "Nothing would change."],
  ["a question stays one", "did you mean network?", "Did you mean network?"],
  ["a machine's name stays as it is", "shop-cp-4kx2p is on Proxmox VE node pve1, which is offline", "shop-cp-4kx2p is on Proxmox VE node pve1, which is offline."],
  ["a cluster's name stays as it is", "web/shop: somebody else changed it", "web/shop: somebody else changed it."],
  ["a user's name stays as it is", "alice@pve may not", "alice@pve may not."],
  ["nothing is nothing", "  ", ""],
])("%s", (_, clause, sentence) => {
  expect(asSentence(clause)).toBe(sentence);
});
