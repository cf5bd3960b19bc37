import type { Answer } from "@/api";
import { reasonOf } from "@/components";
import { asSentence } from "@/components/Failed/Failed";

/** refusalOf is why the person may not, as a sentence in the server's words; undefined where they may, or it is not known. */
export function refusalOf(answer: Answer | undefined): string | undefined {
  const why = reasonOf(answer);
  return why === undefined ? undefined : asSentence(why);
}
