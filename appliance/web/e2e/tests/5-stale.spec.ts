import { expect, signIn, test } from "./browser";
import { lab } from "./lab";
import { look } from "./look";

test("without the management cluster the page says since when, and comes back", async ({ page }) => {
  await signIn(page, "viewer");
  await page.goto("/clusters");
  await expect(page.getByRole("main")).toContainText("shop");
  const old = page.getByText(/The management cluster has not answered since/).first();
  await expect(old).toHaveCount(0);
  await lab("stop-api-server");
  await expect(old).toBeVisible({ timeout: 90_000 });
  await expect(page.getByRole("main")).toContainText("shop");
  await look(page, "stale");
  await lab("start-api-server");
  await expect(old).toBeHidden({ timeout: 90_000 });
});
