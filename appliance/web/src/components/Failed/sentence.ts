/** The server's clauses begin small and end without a stop. */
export function asSentence(clause: string): string {
  const text = clause.trim();
  if (!text) return "";
  return text[0]!.toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
