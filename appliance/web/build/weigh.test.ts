import { expect, test } from "vitest";
import { most, pagesOf, type Part, tooHeavy } from "./weigh";

const part = (file: string, source: string, over: Partial<Part> = {}): Part => ({ file, source, imports: [], styles: [], ...over });

const parts: Part[] = [
  part("main.js", "src/main.tsx", { imports: ["base.js"], styles: ["main.css"] }),
  part("base.js", "", { source: undefined }),
  part("de.js", "src/i18n/de/index.ts"),
  part("shell.js", "src/shell/index.tsx", { imports: ["base.js"] }),
  part("sign-in.js", "src/pages/sign-in/index.tsx"),
  part("home.js", "src/pages/home/index.tsx"),
  part("cluster.js", "src/pages/cluster/index.tsx"),
  part("overview.js", "src/pages/cluster/overview.tsx", { imports: ["rack.js"] }),
  part("rack.js", "", { source: undefined }),
  part("undo.js", "src/pages/cluster-changes/UndoDialog.tsx"),
];

const shared = ["main.js", "main.css", "base.js", "de.js"];

test.each([
  ["home", "the start, the shell and itself", [...shared, "shell.js", "home.js"]],
  ["sign-in", "no shell", [...shared, "sign-in.js"]],
  ["overview", "what it lies in too", [...shared, "shell.js", "cluster.js", "overview.js", "rack.js"]],
])("%s loads %s", (page, _, files) => expect([...pagesOf(parts).get(page)!].sort()).toEqual(files.sort()));

test("what opens later is no page", () => expect([...pagesOf(parts).keys()]).toEqual(["sign-in", "home", "cluster", "overview"]));

test("a build without what is always loaded cannot be weighed", () => expect(() => pagesOf(parts.slice(1))).toThrow("src/main.tsx"));

test("a page above the limit is told, with what it weighs", () => {
  expect(tooHeavy(new Map([["home", most], ["audit", most + 1_000]]))).toEqual(["audit weighs 201.0 kB compressed, 200.0 kB are the most: load later what it does not need at once"]);
});
