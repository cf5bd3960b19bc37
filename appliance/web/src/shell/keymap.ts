/** What a key asks for. page1 to page9 are the pages of the menu. */
export type Pressed = "find" | "log" | "help" | "new" | "submit" | "go" | `page${number}`;

interface Situation {
  /** A field has the focus. */
  typing: boolean;
  /** Single letters are switched on. */
  letters: boolean;
  /** G was pressed a moment ago. */
  afterG: boolean;
  /** A dialog or a menu is open. */
  covered: boolean;
}

const letters: Readonly<Record<string, Pressed>> = { "/": "find", l: "log", "?": "help", n: "new", g: "go" };

/** What a key asks for; undefined when it is none of ours. */
export function keyOf(e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "repeat">, s: Situation): Pressed | undefined {
  if (e.repeat) return undefined;
  const command = e.ctrlKey || e.metaKey;
  if (command && !e.altKey && e.key.toLowerCase() === "k") return s.covered ? undefined : "find";
  if (command && e.key === "Enter") return s.covered ? undefined : "submit";
  if (command || e.altKey || s.typing || s.covered || !s.letters) return undefined;
  if (s.afterG && /^[1-9]$/.test(e.key)) return `page${Number(e.key)}`;
  return letters[e.key.toLowerCase()];
}

/** Where an arrow key goes in a row or a column: 1, -1, or 0 for nowhere. */
export function arrowStep(key: string, along: string | undefined): 1 | -1 | 0 {
  const [back, on] = along === "column" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  return key === on ? 1 : key === back ? -1 : 0;
}
