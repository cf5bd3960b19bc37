import { choose, expect, patience, running, signIn, test } from "./browser";
import { look } from "./look";

// A first-time user, who may make clusters and has none yet.

test("the first cluster is asked for and comes up", async ({ page }) => {
  await signIn(page, "newcomer");
  await page.getByRole("main").getByRole("link", { name: "New cluster" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New cluster" })).toBeVisible();
  await page.getByLabel("New namespace").fill("web");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop");
  await choose(page, "Size", "Trial");
  // The versions that there are templates for are known before there is any cluster, and the newest is chosen.
  await expect(page.getByRole("combobox", { name: "Kubernetes version" })).toContainText("v1.36.4", patience);
  await choose(page, "Kubernetes version", "v1.36.3");
  await expect(page.getByRole("main")).toContainText("kind: ClusterClaim");
  await expect(page.getByRole("main")).toContainText(/Fits|Needs 2 VMs/);
  await page.getByRole("button", { name: "Create cluster" }).click();
  await expect(page).toHaveURL(/\/clusters\/web\/shop$/);
  await expect(page.getByRole("main")).toContainText("Creating", patience);
  await expect(page.getByRole("main")).toContainText(/VM \d+/, patience);
  await look(page, "cluster-creating");
  await running(page, 2);
});

test("it gets one more worker, which is taken back", async ({ page }) => {
  await signIn(page, "newcomer");
  await page.goto("/clusters/web/shop");
  await page.getByRole("link", { name: "Scale", exact: true }).click();
  await page.getByRole("textbox", { name: "Workers" }).fill("2");
  await expect(page.getByRole("main")).toContainText("1 VM");
  await page.getByRole("button", { name: "Scale cluster" }).click();
  await expect(page).toHaveURL(/\/clusters\/web\/shop$/);
  await running(page, 3);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo change" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await running(page, 2);
  await page.getByRole("link", { name: "Changes", exact: true }).click();
  await expect(page.getByRole("main")).toContainText("Undo");
});

test("it is upgraded", async ({ page }) => {
  await signIn(page, "newcomer");
  await page.goto("/clusters/web/shop");
  await page.getByRole("link", { name: "Upgrade", exact: true }).click();
  await choose(page, "Kubernetes version", "v1.36.4");
  await page.getByRole("button", { name: "Upgrade cluster" }).click();
  await expect(page).toHaveURL(/\/clusters\/web\/shop$/);
  await page.goto("/clusters/web/shop/nodes");
  const nodes = page.getByRole("table", { name: "Nodes" });
  await expect(nodes).toContainText("v1.36.4", patience);
  await expect(nodes).not.toContainText("v1.36.3", patience);
  await running(page, 2);
});
