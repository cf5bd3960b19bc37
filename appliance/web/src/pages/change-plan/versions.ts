/** Step is how far a version is from another. */
export type Step = "patch" | "minor" | "further";

/** upgradeStep is how far it is from one version up to another; undefined where it is not up, or not a version. */
export function upgradeStep(from: string, to: string): Step | undefined {
  const [a, b] = [parse(from), parse(to)];
  if (a === undefined || b === undefined || compare(b, a) <= 0 || a.suffix !== b.suffix) {
    return undefined;
  }
  if (a.major !== b.major || b.minor > a.minor + 1) {
    return "further";
  }
  return a.minor === b.minor ? "patch" : "minor";
}

/** upgradesFrom are those of the known versions that a cluster can be raised to at once, newest first: Kubernetes skips no minor version. */
export function upgradesFrom(from: string, known: readonly string[]): string[] {
  return known.filter((to) => ["patch", "minor"].includes(upgradeStep(from, to) ?? "")).toSorted((a, b) => -compareTexts(a, b));
}

interface Version {
  major: number;
  minor: number;
  patch: number;
  /** suffix is what a distribution adds, without its own counting, such as k3s. */
  suffix: string;
}

function parse(text: string): Version | undefined {
  const match = /^v(\d+)\.(\d+)\.(\d+)(?:[+-](.*))?$/.exec(text);
  if (match === null) {
    return undefined;
  }
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]), suffix: (match[4] ?? "").replace(/[0-9.]+$/, "") };
}

function compare(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

function compareTexts(a: string, b: string): number {
  const [x, y] = [parse(a), parse(b)];
  return x === undefined || y === undefined ? 0 : compare(x, y);
}
