import { expect, signIn, test } from "./browser";
import { look } from "./look";

// Every page in both themes and both sizes.

test("the sign-in page", async ({ page }) => {
  await page.goto("/sign-in");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await look(page, "sign-in");
});

const pages: Record<string, string> = {
  home: "/",
  clusters: "/clusters",
  "clusters-filtered": "/clusters?q=phase:Error",
  "new-cluster": "/clusters/new",
  cluster: "/clusters/web/shop",
  "cluster-nodes": "/clusters/web/shop/nodes",
  "cluster-changes": "/clusters/web/shop/changes",
  "cluster-access": "/clusters/web/shop/access",
  "cluster-events": "/clusters/web/shop/events",
  "cluster-file": "/clusters/web/shop/file",
  scale: "/clusters/web/shop/scale",
  upgrade: "/clusters/web/shop/upgrade",
  delete: "/clusters/web/shop/delete",
  changes: "/changes",
  repository: "/repository",
  capacity: "/capacity",
  audit: "/audit",
  "not-found": "/clusters/web/nothing",
  nowhere: "/nowhere",
};

test("the pages of an administrator", async ({ page }) => {
  await signIn(page, "administrator");
  for (const [name, path] of Object.entries(pages)) {
    await test.step(name, async () => {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await look(page, name);
    });
  }
});

test("the pages of somebody with few rights", async ({ page }) => {
  await signIn(page, "viewer");
  for (const name of ["home", "cluster", "new-cluster", "delete"]) {
    await test.step(name, async () => {
      await page.goto(pages[name]!);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await look(page, `${name}-viewer`);
    });
  }
  await signIn(page, "stranger");
  await look(page, "home-empty");
});
