import { choose, code, enter, expect, signIn, test } from "./browser";
import { people } from "./lab";

test("a wrong password is told, and the name stays", async ({ page }) => {
  await page.goto("/sign-in");
  await enter(page, { ...people.viewer!, password: "wrong" });
  await expect(page.getByText("This user name, password or code is not right.")).toBeVisible();
  await expect(page.getByLabel("User name")).toHaveValue("viewer");
});

test("a second factor is asked for", async ({ page }) => {
  const careful = people.careful!;
  await page.goto("/sign-in");
  await enter(page, careful);
  await page.getByLabel("Six-digit code").fill(code(careful.totp!));
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("button", { name: `Account ${careful.user}` })).toBeVisible();
});

test("an OpenID realm signs in", async ({ page }) => {
  await page.goto("/sign-in");
  await choose(page, "Realm", "sso");
  await page.getByRole("button", { name: "Continue with sso" }).click();
  await expect(page.getByRole("button", { name: "Account ada@sso" })).toBeVisible();
});

test("signing out ends the session", async ({ page }) => {
  await signIn(page, "viewer");
  await page.getByRole("button", { name: "Account viewer@pve" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/sign-in/);
  await page.goto("/clusters");
  await expect(page).toHaveURL(/sign-in/);
});

test("whoever comes without a session goes on where they wanted to", async ({ page }) => {
  await page.goto("/clusters?q=phase:running");
  await enter(page, people.viewer!);
  await expect(page).toHaveURL(/\/clusters\?q=phase:running/);
});
