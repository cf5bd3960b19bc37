import * as words from "@/components/Time/words";
import { type Section, pieces, sentenceOf } from "./texts";

/** A sentence of the server by its code, and what is put into it. */
export interface Sentence {
  code: string;
  params?: Record<string, Value>;
}

/** What the server puts into sentences. */
export type Value = string | number | { bytes: number } | { seconds: number } | { time: string } | Sentence | readonly Value[];

/** Something of the server's with sentences in English in its fields; told has those that other languages know. */
export interface Told {
  told?: Readonly<Record<string, Sentence>>;
}

/** The sentence of a code in the language of the texts; undefined where they do not have it. */
export function saidIn(texts: Section, language: string, sentence: Sentence): string | undefined {
  if (!Object.hasOwn(texts, sentence.code)) return undefined;
  const params = sentence.params ?? {};
  return pieces(sentenceOf(texts[sentence.code]!, language, params.n))
    .map((piece) => ("text" in piece ? piece.text : valueIn(texts, language, params[piece.param] ?? "")))
    .join("");
}

function valueIn(texts: Section, language: string, value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (isList(value)) return words.list(value.map((v) => valueIn(texts, language, v)), language);
  if ("bytes" in value) return words.bytes(value.bytes, language);
  if ("seconds" in value) return words.span(value.seconds * 1000, language);
  if ("time" in value) return words.moment(new Date(value.time), new Date(), language);
  return saidIn(texts, language, value) ?? "";
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
