import type { Summary } from "@/api";

/** A namespace with its clusters by name. */
export interface Branch {
  namespace: string;
  clusters: Summary[];
}

/** Above this many clusters namespaces are folded at first, and longer ones end with the way to the list. */
export const mostTwigs = 100;

/** The tree of clusters; with a filter those that have its letters in their name or namespace. */
export function branchesOf(clusters: readonly Summary[], filter: string): Branch[] {
  const letters = filter.trim().toLowerCase();
  const by = new Map<string, Summary[]>();
  for (const c of clusters) {
    if (letters && !`${c.namespace}/${c.name}`.toLowerCase().includes(letters)) continue;
    const list = by.get(c.namespace);
    if (list) list.push(c);
    else by.set(c.namespace, [c]);
  }
  return [...by]
    .map(([namespace, list]) => ({ namespace, clusters: list.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })) }))
    .sort((a, b) => a.namespace.localeCompare(b.namespace, "en", { numeric: true }));
}
