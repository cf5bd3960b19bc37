import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

/** What a page may weigh at most when it is opened directly, compressed by brotli, in bytes. What it loads later, such as lists that open, does not count. */
export const most = 200_000;

/** A file of the build, by what is in it and what it cannot do without. */
export interface Part {
  file: string;
  /** The source that the file is for, where it is for one. */
  source?: string;
  imports: readonly string[];
  styles: readonly string[];
}

/** What is loaded for every page: the start, the texts, of which German ones are the longer; and what is around every page but sign-in. */
const always = ["src/main.tsx", "src/i18n/de/index.ts"];
const around = "src/shell/index.tsx";

/** Pages that lie inside another. */
const inside: Readonly<Record<string, string>> = { overview: "src/pages/cluster/index.tsx" };

/** The pages of a build, by name, with the files that each loads when it is opened directly. */
export function pagesOf(parts: readonly Part[]): Map<string, Set<string>> {
  const bySource = new Map(parts.flatMap((p) => (p.source ? [[p.source, p] as const] : [])));
  const byFile = new Map(parts.map((p) => [p.file, p]));
  const pages = new Map<string, Set<string>>();
  for (const { source } of parts) {
    const name = source && /^src\/pages\/(.+?)(\/index)?\.tsx$/.exec(source)?.[1]?.replace(/^cluster\/overview$/, "overview");
    if (!name || name.includes("/")) continue;
    const first = [...always, ...(name === "sign-in" ? [] : [around]), ...(inside[name] ? [inside[name]] : []), source];
    pages.set(name, filesOf(first, bySource, byFile));
  }
  return pages;
}

function filesOf(sources: readonly string[], bySource: ReadonlyMap<string, Part>, byFile: ReadonlyMap<string, Part>): Set<string> {
  const files = new Set<string>();
  const add = (part: Part | undefined, wanted: string) => {
    if (!part) throw new Error(`the build has no ${wanted}, which its pages are weighed with`);
    if (files.has(part.file)) return;
    for (const file of [part.file, ...part.styles]) files.add(file);
    for (const file of part.imports) add(byFile.get(file), file);
  };
  for (const source of sources) add(bySource.get(source), source);
  return files;
}

/** The pages that weigh too much, a sentence each. */
export function tooHeavy(pages: ReadonlyMap<string, number>): string[] {
  const kilo = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  return [...pages].filter(([, bytes]) => bytes > most).map(([name, bytes]) => `${name} weighs ${kilo(bytes)} compressed, ${kilo(most)} are the most: load later what it does not need at once`);
}

/** Weighs every page once it is compressed, and lets the build fail where one is too heavy. It comes after compress. */
export function weigh(): Plugin {
  let [root, folder, parts]: [string, string, Part[]] = ["", "", []];
  return {
    name: "weigh",
    apply: "build",
    configResolved(config) {
      [root, folder] = [config.root, join(config.root, config.build.outDir)];
    },
    writeBundle(_, bundle) {
      const own = (id: string) => id.replace(`${root}/`, "").replace(/^index\.html$/, "src/main.tsx");
      parts = Object.values(bundle).flatMap((c) =>
        c.type === "chunk"
          ? [{ file: c.fileName, source: c.facadeModuleId ? own(c.facadeModuleId) : undefined, imports: c.imports, styles: [...(c.viteMetadata?.importedCss ?? [])] }]
          : [],
      );
    },
    closeBundle() {
      const pages = new Map([...pagesOf(parts)].map(([name, files]) => [name, [...files].reduce((sum, file) => sum + sizeOf(join(folder, file)), 0)]));
      const heaviest = [...pages].sort(([, a], [, b]) => b - a).slice(0, 3);
      console.log(`the heaviest pages, compressed: ${heaviest.map(([name, bytes]) => `${name} ${(bytes / 1000).toFixed(1)} kB`).join(", ")}`);
      const heavy = tooHeavy(pages);
      if (heavy.length > 0) throw new Error(heavy.join("\n"));
    },
  };
}

function sizeOf(path: string): number {
  return statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
}
