/** A piece of a line of YAML: a key, a comment, or anything else. */
export interface Token {
  kind: "key" | "comment" | "text";
  text: string;
}

const key = /(^|[\s{,[-])([A-Za-z_][\w./-]*)(?=:(?:\s|$))/;

/** Takes a line apart for colouring. It only has to be right enough to read by; what it does not know stays text. */
export function tokens(line: string): Token[] {
  const at = commentAt(line);
  const out: Token[] = [];
  let rest = line.slice(0, at);
  for (let m = key.exec(rest); m; m = key.exec(rest)) {
    const before = rest.slice(0, m.index) + m[1];
    if (before) out.push({ kind: "text", text: before });
    out.push({ kind: "key", text: m[2]! });
    rest = rest.slice(m.index + m[0].length);
  }
  if (rest) out.push({ kind: "text", text: rest });
  if (at < line.length) out.push({ kind: "comment", text: line.slice(at) });
  return out;
}

/** Where the comment of a line begins: a # at its start or after a space, outside of quotes; the line's length without one. */
function commentAt(line: string): number {
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "#" && (i === 0 || /\s/.test(line[i - 1]!))) return i;
  }
  return line.length;
}
