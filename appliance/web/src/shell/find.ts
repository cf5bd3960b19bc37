import type { Summary } from "@/api";

/** How well a text fits what was typed: 0 not at all, else the higher the better. Every word typed must be in it. */
export function score(text: string, typed: string): number {
  const [hay, words] = [text.toLowerCase(), typed.toLowerCase().split(/\s+/).filter(Boolean)];
  let sum = 1;
  for (const w of words) {
    const at = hay.indexOf(w);
    if (at < 0) return 0;
    sum += at === 0 ? 4 : /[\s/.-]/.test(hay[at - 1]!) ? 3 : 1;
    if (hay === w) sum += 4;
  }
  return sum;
}

/** The best of a list for what was typed, at most n, the best first. */
export function best<E>(list: readonly E[], text: (entry: E) => string, typed: string, n: number): E[] {
  return list
    .map((entry) => ({ entry, score: score(text(entry), typed) }))
    .filter((e) => e.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, n)
    .map((e) => e.entry);
}

export const clusterName = (c: Pick<Summary, "namespace" | "name">) => `${c.namespace}/${c.name}`;
