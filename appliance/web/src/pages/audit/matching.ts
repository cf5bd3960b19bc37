import type { AuditEvent } from "@/api";

/** Which is whether everything is shown, or only what was refused. */
export type Which = "all" | "refused";

/** matching are the events that have every one of the words somewhere. */
export function matching(events: readonly AuditEvent[], words: string, which: Which): AuditEvent[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return events.filter((e) => {
    if (which === "refused" && !e.refused) {
      return false;
    }
    const text = [e.user, e.from, e.what, e.on, e.commit, e.detail, e.refused].join(" ").toLowerCase();
    return wanted.every((w) => text.includes(w));
  });
}
