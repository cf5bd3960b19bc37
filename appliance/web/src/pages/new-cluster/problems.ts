import type { Problem } from "@/api";
import { asSentence } from "@/components/Failed/sentence";

/** problemAt is what is wrong with a field or anything below it, as a sentence; undefined where nothing is. */
export function problemAt(problems: readonly Problem[], field: string): string | undefined {
  const found = problems.find((p) => p.field === field || p.field?.startsWith(`${field}.`) || p.field?.startsWith(`${field}[`));
  return found && asSentence(found.message);
}

/** pressing are the problems that count now: that a name is missing is told by the form itself, once somebody had time to give one. */
export function pressing(problems: readonly Problem[], named: boolean): Problem[] {
  return named ? [...problems] : problems.filter((p) => p.field !== "metadata.name" && p.field !== "metadata.namespace");
}
