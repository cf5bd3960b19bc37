/** A text, or one for each number word of the language where the parameter n counts something. */
export type Message = string | { readonly one: string; readonly other: string };

/** The texts of a section, by key. */
export type Section = Readonly<Record<string, Message>>;

/** The type of a section in another language: the same keys, any words. A message that counts in one language may be one sentence in another. */
export type Same<S extends Section> = { readonly [K in keyof S]: Message };

type Named<S extends string> = S extends `${string}{${infer P}}${infer Rest}` ? P | Named<Rest> : never;
type Words<M> = M extends string ? M : M extends { one: infer A extends string; other: infer B extends string } ? A | B : never;

/** The names in braces of a message. */
export type ParamsOf<M> = Named<Words<M>>;

/** The part of a sentence between its parameters, and the parameters. */
export type Piece = { text: string } | { param: string };

/** Takes a sentence apart at its parameters in braces. */
export function pieces(sentence: string): Piece[] {
  return sentence
    .split(/(\{\w+\})/)
    .filter((part) => part !== "")
    .map((part) => (/^\{\w+\}$/.test(part) ? { param: part.slice(1, -1) } : { text: part }));
}

/** The sentence of a message for the number n of its parameters. */
export function sentenceOf(message: Message, language: string, n: unknown): string {
  if (typeof message === "string") return message;
  return new Intl.PluralRules(language).select(Number(n)) === "one" ? message.one : message.other;
}
