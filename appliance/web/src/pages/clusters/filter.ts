import type { Summary } from "@/api/types";

/** What a filter may ask for by name. */
export const fields = ["phase", "owner", "namespace", "version"] as const;
export type FilterField = (typeof fields)[number];

/** A filter taken apart: letters that must be in the name or the message, and values of which one must be right in each field. */
export interface Filter {
  words: string[];
  values: Partial<Record<FilterField, string[]>>;
}

const term = /"([^"]*)"?|(\S+)/g;

/** Reads a filter such as: phase:error owner:me shop. A field without a value yet asks for nothing. */
export function parseFilter(text: string): Filter {
  const filter: Filter = { words: [], values: {} };
  for (const m of text.matchAll(term)) {
    const [word, quoted] = [m[1] ?? m[2]!, m[1] !== undefined];
    const field = fields.find((f) => !quoted && word.toLowerCase().startsWith(`${f}:`));
    if (!field) {
      if (word) filter.words.push(word.toLowerCase());
      continue;
    }
    const value = word.slice(field.length + 1).toLowerCase();
    if (value) (filter.values[field] ??= []).push(value);
  }
  return filter;
}

/** The clusters that fit a filter. While its last word is the beginning of a field, such as pha, and fits none, it is not counted yet. */
export function filtered(clusters: readonly Summary[], text: string, me: string): Summary[] {
  const of = (t: string) => {
    const filter = parseFilter(t);
    return clusters.filter((c) => fits(c, filter, me));
  };
  const found = of(text);
  const [, before = "", last = ""] = /^(.*?)(\S*)$/s.exec(text) ?? [];
  return found.length === 0 && last && fields.some((f) => f.startsWith(last.toLowerCase())) ? of(before) : found;
}

/** The value of a cluster in a field, in small letters. */
function valueOf(c: Summary, field: FilterField): string {
  return { phase: c.phase, owner: c.owner ?? "", namespace: c.namespace, version: c.version ?? c.wantedVersion }[field].toLowerCase();
}

/** Tells whether a cluster fits a filter. owner:me is the person; a version may be given in part, such as v1.36. */
export function fits(c: Summary, filter: Filter, me: string): boolean {
  const name = `${c.namespace}/${c.name} ${c.message}`.toLowerCase();
  return (
    filter.words.every((w) => name.includes(w)) &&
    fields.every((f) => {
      const wanted = filter.values[f];
      return !wanted || wanted.some((w) => same(f, valueOf(c, f), f === "owner" && w === "me" ? me.toLowerCase() : w));
    })
  );
}

function same(field: FilterField, value: string, wanted: string): boolean {
  if (field === "version") return value === wanted || value.startsWith(`${wanted}.`) || value.startsWith(`${wanted}+`);
  if (field === "owner") return value === wanted || value.startsWith(`${wanted}@`);
  return value === wanted;
}

/** A filter with a value added, or taken out where it was in it. */
export function toggleValue(text: string, field: FilterField, value: string): string {
  const wanted = `${field}:${value}`.toLowerCase();
  const terms = text.split(/\s+/).filter(Boolean);
  const left = terms.filter((t) => t.toLowerCase() !== wanted);
  return (left.length < terms.length ? left : [...terms, wanted]).join(" ");
}

/** The values that a field has among the clusters, in order; newest versions first. */
export function valuesOf(clusters: readonly Summary[], field: FilterField): string[] {
  const all = [...new Set(clusters.map((c) => valueOf(c, field)).filter(Boolean))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return field === "version" ? all.reverse() : all;
}

/** What may complete the last term of a filter: fields while it has none, then the field's values. Each is the whole filter as it would be. */
export function suggestions(text: string, clusters: readonly Summary[]): string[] {
  const [, before = "", last = ""] = /^(.*?)(\S*)$/s.exec(text) ?? [];
  const field = fields.find((f) => last.toLowerCase().startsWith(`${f}:`));
  const typed = last.toLowerCase();
  const list = field ? [...(field === "owner" ? ["me"] : []), ...valuesOf(clusters, field)].map((v) => `${field}:${v}`) : fields.map((f) => `${f}:`);
  return list
    .filter((s) => s.startsWith(typed) && s !== typed)
    .slice(0, 8)
    .map((s) => before + s);
}
