import type { Page } from "@playwright/test";
import { expect, overflow, signIn, test } from "./browser";
import { people } from "./lab";

// Without a mouse, and on a phone.

/** What has the focus, and that it can be seen to have it. */
async function focused(page: Page, what: ReturnType<Page["getByRole"]>): Promise<void> {
  await expect(what).toBeFocused();
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(outline, "the focus can be seen").not.toBe("none");
}

/** Presses Tab until something has the focus. */
async function tabTo(page: Page, what: ReturnType<Page["getByRole"]>): Promise<void> {
  await expect(async () => {
    if (!(await what.evaluate((e) => e === document.activeElement))) {
      await page.keyboard.press("Tab");
      expect(await what.evaluate((e) => e === document.activeElement)).toBe(true);
    }
  }).toPass({ timeout: 15_000, intervals: [0] });
  await focused(page, what);
}

test("from signing in to a filled form by the keys alone", async ({ page }) => {
  const { user, password } = people.newcomer!;
  await page.goto("/sign-in");
  await expect(page.getByLabel("User name")).toBeFocused();
  await page.keyboard.type(user);
  await page.keyboard.press("Tab");
  await expect(page.getByLabel("Password")).toBeFocused();
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("banner")).toBeVisible();

  await page.goto("/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("Tab");
  await focused(page, page.getByRole("link", { name: "Skip to content" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();

  await page.keyboard.press("n");
  await expect(page).toHaveURL(/\/clusters\/new$/);
  await expect(page.getByRole("heading", { level: 1, name: "New cluster" })).toBeVisible();
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  await tabTo(page, name);
  await page.keyboard.type("by-keys");
  const size = page.getByRole("combobox", { name: "Size" });
  await tabTo(page, size);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("option", { name: /^Trial/ })).toBeVisible();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("option", { name: /^Trial/ })).toBeHidden();
  await expect(size).toContainText("Trial");
  await focused(page, size);
  await expect(page.getByRole("main")).toContainText("name: by-keys");
  await tabTo(page, page.getByRole("button", { name: "Create cluster" }));
});

test("menus and dialogs open, close by Escape, and give the focus back", async ({ page }) => {
  await signIn(page, "newcomer");
  await page.goto("/clusters/web/shop");
  const account = page.getByRole("button", { name: `Account ${people.newcomer!.user}` });
  await tabTo(page, account);
  await page.keyboard.press("Enter");
  const keys = page.getByRole("menuitem", { name: /^Keyboard/ });
  await expect(keys).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await focused(page, account);

  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard" });
  await expect(dialog).toBeVisible();
  await expect(dialog.locator(":focus")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(account).toBeFocused();

  await page.keyboard.press("Control+k");
  const find = page.getByRole("dialog").getByRole("combobox");
  await expect(find).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(find).toBeHidden();
  await expect(account).toBeFocused();

  await page.keyboard.press("Control+k");
  await page.keyboard.type("capacity");
  await expect(page.getByRole("option", { name: /^Capacity/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/capacity$/);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("the drawer leads to every page, and none scrolls sideways", async ({ page }) => {
    await signIn(page, "newcomer");
    for (const [to, address] of [["Clusters", /\/clusters$/], ["Capacity", /\/capacity$/], ["Home", /\/$/]] as const) {
      await page.getByRole("button", { name: "Open the tree" }).tap();
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: to }).tap();
      await expect(page.getByRole("button", { name: "Close the tree" })).toBeHidden();
      await expect(page).toHaveURL(address);
      await expect(page.getByRole("main").getByRole("heading", { level: 1 })).toBeVisible();
      expect(await overflow(page), `${to} scrolls sideways`).toBe(0);
    }
    await page.getByRole("button", { name: "Open the tree" }).tap();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Close the tree" })).toBeHidden();
  });

  test("a cluster's parts and actions are in reach", async ({ page }) => {
    await signIn(page, "newcomer");
    await page.goto("/clusters/web/shop");
    for (const [part, address] of [["Nodes", /nodes$/], ["Changes", /changes/], ["Access", /access$/], ["Events", /events$/], ["File", /file$/], ["Overview", /shop$/]] as const) {
      await page.getByRole("main").getByRole("link", { name: part }).first().tap();
      await expect(page).toHaveURL(address);
      await expect(page.getByRole("heading", { level: 1, name: "shop" })).toBeVisible();
      expect(await overflow(page), `${part} scrolls sideways`).toBe(0);
    }
    await page.getByRole("group", { name: "Actions for web/shop" }).getByRole("button", { name: "More" }).tap();
    await page.getByRole("menuitem", { name: "Delete" }).tap();
    await expect(page).toHaveURL(/\/clusters\/web\/shop\/delete$/);
    await expect(page.getByRole("button", { name: "Delete cluster" })).toBeInViewport();
  });

  test("a cluster is asked for as far as the button", async ({ page }) => {
    await signIn(page, "newcomer");
    await page.getByRole("banner").getByRole("link", { name: "New cluster" }).tap();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("on-a-phone");
    await expect(page.getByRole("main")).toContainText("name: on-a-phone");
    const create = page.getByRole("button", { name: "Create cluster" });
    await expect(create).toBeInViewport();
    await expect(create).not.toHaveAttribute("aria-disabled", "true");
    expect(await overflow(page)).toBe(0);
  });
});
