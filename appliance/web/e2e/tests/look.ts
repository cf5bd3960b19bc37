import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { artefacts } from "./lab";
import { expect, overflow } from "./browser";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The sizes and themes that every page is looked at in. */
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const themes = ["light", "dark"] as const;

/** Takes a picture of a page in each size and theme, and has axe look for what some people could not use. */
export async function look(page: Page, name: string): Promise<void> {
  await mkdir(artefacts, { recursive: true });
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.screenshot({ path: `${artefacts}/${name}-${size}-${theme}.png` });
      expect.soft(await findings(page), `axe, ${name}, ${size}, ${theme}`).toEqual([]);
      expect.soft(await overflow(page), `${name} scrolls sideways, ${size}`).toBe(0);
    }
  }
  await page.setViewportSize(sizes.desktop);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: null });
}

interface Finding {
  id: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

declare const window: { axe: { run(options: object): Promise<{ violations: Finding[] }> } };

/** What axe finds, a line each. It is evaluated by the debugger, which the page's policy does not concern. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axe, "utf8"));
  const violations = await page.evaluate(async () => (await window.axe.run({ resultTypes: ["violations"] })).violations);
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}: ${n.html.slice(0, 200)}: ${n.failureSummary}`));
}
