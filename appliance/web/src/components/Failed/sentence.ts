/** The server's clauses begin small and end without a stop. A name in front, such as shop-cp-4kx2p, 10.0.40.10 or web/shop, stays as it is written. */
export function asSentence(clause: string): string {
  const text = clause.trim();
  if (!text) return "";
  const [first = ""] = text.split(/[\s:;,]/, 1);
  const begun = /[-/.@_\d]/.test(first) ? text : text[0]!.toUpperCase() + text.slice(1);
  return begun + (/[.!?]$/.test(text) ? "" : ".");
}
