/** A line of a difference. at is where a file or a part of it begins. */
export interface DiffLine {
  kind: "add" | "del" | "same" | "at";
  text: string;
}

/** The difference of one file. */
export interface FileDiff {
  path: string;
  lines: DiffLine[];
  added: number;
  removed: number;
}

/** Takes a unified diff apart, file by file. Lines before the first file are left out; the path is the new one, or the old one of a file that is gone. */
export function parseDiff(text: string): FileDiff[] {
  const files: FileDiff[] = [];
  let old = "";
  let inHead = true;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const file = files.at(-1);
    if (line.startsWith("diff --git ")) {
      files.push({ path: /^diff --git a\/(.*) b\/.*$/.exec(line)?.[1] ?? "", lines: [], added: 0, removed: 0 });
      inHead = true;
    } else if ((inHead || !file) && line.startsWith("--- ")) {
      old = pathOf(line);
    } else if ((inHead || !file) && line.startsWith("+++ ")) {
      const path = pathOf(line) || old;
      if (file && file.lines.length === 0) file.path = path;
      else files.push({ path, lines: [], added: 0, removed: 0 });
      inHead = true;
    } else if (line.startsWith("@@")) {
      inHead = false;
      files.at(-1)?.lines.push({ kind: "at", text: line });
    } else if (file && !inHead) {
      take(file, line);
    }
  }
  return files;
}

/** A new part without "diff --git" begins with --- and +++ too; a hunk's own line that begins so is one of its lines. */
function take(file: FileDiff, line: string): void {
  if (line.startsWith("+")) {
    file.added++;
    file.lines.push({ kind: "add", text: line.slice(1) });
  } else if (line.startsWith("-")) {
    file.removed++;
    file.lines.push({ kind: "del", text: line.slice(1) });
  } else if (!line.startsWith("\\")) {
    file.lines.push({ kind: "same", text: line.slice(1) });
  }
}

function pathOf(line: string): string {
  const path = line.slice(4).replace(/\t.*$/, "");
  return path === "/dev/null" ? "" : path.replace(/^[ab]\//, "");
}
