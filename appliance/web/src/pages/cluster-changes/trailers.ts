import type { Need } from "@/api";

const checked = /^Kubehenge-Checked: (\S+) (\S+)$/;
const trailer = /^[A-Za-z][A-Za-z0-9-]*: \S/;

/** Told is what a commit's message says below its first line. */
export interface Told {
  /** text are people's own words, without trailers. */
  text: string;
  /** checked are the privileges that were verified before the commit was made. */
  checked: Pick<Need, "privilege" | "path">[];
}

/** toldBy takes a commit's message apart. Trailers are the last paragraph, where all of its lines look like one. */
export function toldBy(body: string | undefined): Told {
  const paragraphs = (body ?? "").trim().split(/\n{2,}/);
  const last = paragraphs.at(-1)?.split("\n") ?? [];
  if (!last.every((line) => trailer.test(line))) {
    return { text: paragraphs.join("\n\n"), checked: [] };
  }
  const found = last.flatMap((line) => {
    const match = checked.exec(line);
    return match === null ? [] : [{ privilege: match[1] ?? "", path: match[2] ?? "" }];
  });
  return { text: paragraphs.slice(0, -1).join("\n\n"), checked: found };
}
