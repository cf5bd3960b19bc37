import { createHmac } from "node:crypto";
import { test as base, expect, type Page } from "@playwright/test";
import { people, type Account } from "./lab";

/** A test whose pages must break no rule of the Content Security Policy and throw nothing. */
export const test = base.extend<{ page: Page }>({
  page: async ({ page }, use) => {
    const troubles = watch(page);
    await use(page);
    expect(troubles, "violations of the Content Security Policy, and errors on the page").toEqual([]);
  },
});

export { expect };

/** How long a change of a cluster may take, on two cores that do everything. */
export const patience = { timeout: 240_000 };

/** Collects what a page should never do. */
function watch(page: Page): string[] {
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(`threw ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|violates the following/i.test(message.text())) troubles.push(message.text());
  });
  return troubles;
}

/** Signs in, and waits for the first page. */
export async function signIn(page: Page, who: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto("/sign-in");
  await enter(page, people[who]!);
  await expect(page.getByRole("banner")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
}

/** Fills in user, realm and password, and sends them. */
export async function enter(page: Page, account: Account): Promise<void> {
  const [name, realm] = account.user.split("@");
  await choose(page, "Realm", realm!);
  await page.getByLabel("User name").fill(name!);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Chooses from a list that opens below its button. */
export async function choose(page: Page, field: string, option: string): Promise<void> {
  const list = page.getByRole("combobox", { name: field });
  if (await list.getByText(option, { exact: true }).count()) return;
  await list.click();
  await page.getByRole("option", { name: new RegExp(`^${option}`) }).click();
  await expect(list).toContainText(option);
}

/** Asks the API as whoever is signed in on a page, as another program would; gives the answer. */
export async function ask(page: Page, method: "GET" | "POST", path: string, body?: object): Promise<unknown> {
  return page.evaluate(
    async ([method, path, body]) => {
      const { csrf } = (await (await fetch("/api/session")).json()) as { csrf: string };
      const headers = { "Content-Type": "application/json", "X-Kubehenge-CSRF": csrf };
      const answer = await fetch(path, { method, headers, body });
      if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
      return (await answer.json()) as unknown;
    },
    [method, path, body && JSON.stringify(body)] as const,
  );
}

/** By how many pixels the document is wider than the window. */
export const overflow = (page: Page) => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));

/** The banner of a cluster's page, with its one sentence. */
export const sentence = (page: Page) => page.getByRole("main").getByRole("status").first();

/** Waits until a cluster's page says that it runs. */
export async function running(page: Page, nodes: number): Promise<void> {
  await page.goto("/clusters/web/shop");
  await expect(page.getByRole("heading", { level: 1 }).locator("..")).toContainText("Running", patience);
  await expect(page.getByRole("main")).toContainText(`${nodes} of ${nodes} nodes ready`, patience);
}

/** The code that an authenticator app shows now (RFC 6238, SHA-1, 30 seconds, six digits). */
export function code(secret: string, at = Date.now()): string {
  const bits = [...secret].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const sum = createHmac("sha1", key).update(counter).digest();
  return String((sum.readUInt32BE(sum[19]! & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
