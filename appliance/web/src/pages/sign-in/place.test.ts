import { expect, test } from "vitest";
import { safePlace, userOf } from "./place";

test.each([
  ["/clusters?q=phase:error", "/clusters?q=phase:error"],
  [null, "/"],
  ["//evil.example.com", "/"],
  ["/\\evil.example.com", "/"],
  ["https://evil.example.com", "/"],
  ["/sign-in?to=/", "/"],
])("after sign-in %s leads to %s", (to, want) => expect(safePlace(to)).toBe(want));

test.each([
  ["alice", "alice@ldap"],
  [" alice ", "alice@ldap"],
  ["alice@pve", "alice@pve"],
  ["alice@example.com", "alice@example.com@ldap"],
])("the user %s is %s", (typed, want) => expect(userOf(typed, "ldap", ["pam", "pve", "ldap"])).toBe(want));
