import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** What is worth compressing: text. Fonts and pictures are compressed already. */
const text = /\.(?:html|js|css|svg|json)$/;

/** Below this many bytes a compressed answer is not smaller by as much as its header costs. */
const smallest = 512;

/**
 * Writes a brotli and a gzip file beside each file of the build, so that the server only hands them out, and keeps the placeholder by which Go can embed
 * a folder that has not been built.
 */
export function compress(): Plugin {
  let folder = "dist";
  return {
    name: "compress",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const path of filesIn(folder)) {
        if (text.test(path) && statSync(path).size >= smallest) write(path);
      }
      writeFileSync(join(folder, ".gitkeep"), "");
    },
  };
}

function write(path: string): void {
  const content = readFileSync(path);
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
