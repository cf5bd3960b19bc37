import { expect, signIn, test } from "./browser";

test("who may only look is told by each button what is missing", async ({ page }) => {
  await signIn(page, "viewer");
  await page.goto("/clusters/web/shop");
  for (const name of ["Kubeconfig", "Scale", "Delete"]) {
    const button = page.getByRole("group", { name: "Actions for web/shop" }).getByRole("button", { name, exact: true });
    await expect(button).toHaveAttribute("aria-disabled", "true");
    await expect(button).toHaveAccessibleDescription(/\/pool\/kubehenge\/web\.shop/);
  }
  await page.goto("/clusters/new");
  await expect(page.getByRole("button", { name: "Create cluster" })).toHaveAccessibleDescription(/VM\.Allocate on \/pool\/kubehenge/);
  await expect(page.getByRole("link", { name: "Audit" })).toHaveCount(0);
});

test("who may not look finds nothing, in the same words as for what is not there", async ({ page }) => {
  await signIn(page, "stranger");
  await expect(page.getByText("shop")).toHaveCount(0);
  for (const name of ["web/shop", "web/nothing"]) {
    await page.goto(`/clusters/${name}`);
    await expect(page.getByText(`There is no cluster ${name}, or you may not see it`)).toBeVisible();
  }
});
