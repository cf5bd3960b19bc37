import type { Page } from "@playwright/test";
import { expect, overflow, signIn, test } from "./browser";
import { people } from "./lab";

// The page in German: what is chosen stays, and what the page and the server say is said in German.

/** Words of the page's own in English that must be nowhere in the German one. They are in no commit's subject, which people write. */
const english = /\b(Overview|Changes|Events|Nodes|Cancel|Loading|Settings|Capacity|Delete cluster|Upgrade cluster|Sign out|Needs|Fits|which you do not have|Not known|Workers|accepted|ready|since)\b/;

/** What a page says, but for what is marked as being in English, and what Git and the terminal hold. */
async function says(page: Page): Promise<string> {
  return page.evaluate(() => {
    const copy = document.body.cloneNode(true) as HTMLElement;
    for (const e of copy.querySelectorAll("[lang=en], pre, code, kbd, noscript, script, style")) e.remove();
    return copy.textContent ?? "";
  });
}

async function german(page: Page, path: string, ...words: (string | RegExp)[]): Promise<void> {
  await page.goto(path);
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  for (const w of words) await expect(page.getByRole("main")).toContainText(w);
  expect(await says(page), `${path} in German`).not.toMatch(english);
  expect(await overflow(page), `${path} scrolls sideways`).toBe(0);
}

async function speakGerman(page: Page, user: string): Promise<void> {
  await page.getByRole("button", { name: `Account ${user}` }).click();
  await page.getByRole("menuitemcheckbox", { name: "Deutsch" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await expect(page.getByRole("menuitem", { name: "Abmelden" })).toBeVisible();
}

test("German is chosen in the account's menu, and stays", async ({ page }) => {
  await signIn(page, "newcomer");
  await speakGerman(page, people.newcomer!.user);
  await page.reload();
  await german(page, "/");
  await german(page, "/clusters", "web/shop", "Was er gerade tut");
  await german(page, "/clusters/web/shop", "Gewünscht", /Läuft; 2 von 2 Knoten sind bereit/, "Control-Plane-Knoten");
  await german(page, "/clusters/web/shop/nodes", "Bereit");
  await german(page, "/clusters/web/shop/delete", "Zur Bestätigung", "Die Daten sind nicht zurückzuholen");
  await german(page, "/capacity");
});

test("what fits, what a change does and what is wrong is said in German", async ({ page }) => {
  await signIn(page, "newcomer");
  await speakGerman(page, people.newcomer!.user);
  await german(page, "/clusters/web/shop/scale");
  await page.getByRole("textbox", { name: "Worker" }).fill("2");
  await expect(page.getByRole("main")).toContainText(/Braucht 1 VM/);
  await expect(page.getByRole("main")).toContainText("neu: Pool workers");
  await expect(page.getByRole("main")).toContainText("Pool workers: 2 statt 1");
  await german(page, "/clusters/new", "Größe");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("neu");
  await expect(page.getByRole("main")).toContainText(/Braucht \d+ VMs, .* Arbeitsspeicher/);
});

test("a refusal is told in German, with the privilege and the path", async ({ page }) => {
  await signIn(page, "viewer");
  await speakGerman(page, people.viewer!.user);
  await german(page, "/clusters/web/shop");
  const scale = page.getByRole("group", { name: "Aktionen für web/shop" }).getByRole("button", { name: "Skalieren", exact: true });
  await expect(scale).toHaveAccessibleDescription("Dafür fehlt Ihnen VM.Allocate auf /pool/kubehenge/web.shop; wer Proxmox VE verwaltet, kann es geben.");
  await german(page, "/repository", "Repository", "Beide haben dieselben Commits.");
});
