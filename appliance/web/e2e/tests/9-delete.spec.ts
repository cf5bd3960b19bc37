import { expect, patience, signIn, test } from "./browser";

test("a cluster is deleted after its name was typed", async ({ page }) => {
  await signIn(page, "newcomer");
  await page.goto("/clusters/web/shop");
  await page.getByRole("link", { name: "Delete", exact: true }).click();
  const confirm = page.getByRole("button", { name: "Delete cluster" });
  await expect(confirm).toHaveAttribute("aria-disabled", "true");
  await page.getByLabel(/Type web\/shop to confirm/).fill("web/shop");
  await confirm.click();
  await expect(page).toHaveURL(/\/clusters\/web\/shop$/);
  await expect(page.getByRole("heading", { level: 1 }).locator("..")).toContainText("Deleting");
  await expect(page.getByRole("heading", { level: 1 }).locator("..")).toContainText("Deleted", patience);
});
