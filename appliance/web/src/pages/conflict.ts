import type { Conflict } from "@/api";

/** Keep is whose version of a field stays. */
export type Keep = "yours" | "theirs";

/** baseAfter is the newest commit that the person has seen once they were told of conflicts, so that whatever comes after it is told again. */
export function baseAfter(conflicts: readonly Conflict[], base: string): string {
  return conflicts.find((c) => c.commit !== undefined && c.commit !== "")?.commit ?? base;
}

/** shown is a value of a claim as people read it; undefined when it is not set. */
export function shown(value: unknown): string | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
