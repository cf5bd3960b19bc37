import { ask, expect, patience, signIn, test } from "./browser";
import { people } from "./lab";

// What others do meanwhile.

/** A cluster of two worker pools without workers, so that little has to be made. */
const pair = {
  namespace: "web",
  name: "pair",
  spec: {
    class: "kubeadm-1",
    version: "v1.36.4",
    network: "lan",
    controlPlane: { replicas: 1, size: "small" },
    pools: [
      { name: "blue", replicas: 0, size: "small" },
      { name: "green", replicas: 0, size: "small" },
    ],
  },
};

const at = "/api/clusters/web/pair";

test("two people change the same cluster, and each field stays as it is chosen", async ({ page, browser }) => {
  await signIn(page, "newcomer");
  await ask(page, "POST", "/api/clusters", pair);
  await page.goto("/clusters/web/pair/scale");
  const [blue, green] = [page.getByRole("textbox", { name: "Workers in blue" }), page.getByRole("textbox", { name: "Workers in green" })];
  await blue.fill("2");
  await green.fill("1");

  const other = await (await browser.newContext()).newPage();
  await signIn(other, "administrator");
  const fields = [
    { path: "spec.pools[0].replicas", value: 1 },
    { path: "spec.pools[1].replicas", value: 2 },
  ];
  await ask(other, "POST", `${at}/change`, { why: "Both pools", fields });
  await other.context().close();

  const [main, scale, by] = [page.getByRole("main"), page.getByRole("button", { name: "Scale cluster" }), people.administrator!.user];
  await scale.click();
  await expect(main).toContainText("Somebody changed this meanwhile.");
  await expect(main).toContainText(`${by} set the workers to 1; you set 2.`);
  await expect(main).toContainText(`${by} set the workers to 2; you set 1.`);
  await expect(scale).toHaveAccessibleDescription("Choose first whose version stays.");

  await page.getByRole("button", { name: "Keep theirs: 1" }).click();
  await expect(blue).toHaveValue("1");
  await page.getByRole("button", { name: "Keep mine: 1" }).click();
  await expect(green).toHaveValue("1");
  await expect(main).not.toContainText("Somebody changed this meanwhile.");
  await scale.click();
  await expect(page).toHaveURL(/\/clusters\/web\/pair$/);
  const { cluster } = (await ask(page, "GET", at)) as { cluster: { spec: { pools: { name: string; replicas: number }[] } } };
  expect(cluster.spec.pools.map((p) => [p.name, p.replicas])).toEqual([["blue", 1], ["green", 1]]);
  await ask(page, "POST", `${at}/delete`, { confirm: "pair" });
});

test("a change that somebody made since cannot be undone any more, and the dialog says so", async ({ page }) => {
  await signIn(page, "newcomer");
  await page.goto("/clusters/web/pair/changes");
  const commits = page.getByRole("main").getByRole("list", { name: "Commits" });
  await commits.getByRole("link", { name: /Both pools/ }).click();
  await expect(page.getByRole("button", { name: "Undo this change…" })).toHaveAccessibleDescription(/was changed since/);
});

test("the mirror keeps step with what is committed", async ({ page }) => {
  await signIn(page, "administrator");
  await page.goto("/repository");
  const main = page.getByRole("main");
  await expect(main).toContainText("file:///");
  await expect(main).toContainText("In step at", patience);
});
