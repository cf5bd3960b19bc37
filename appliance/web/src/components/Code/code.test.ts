import { describe, expect, it, test } from "vitest";
import { parseDiff } from "./diff";
import { tokens } from "./yaml";

test.each([
  ["a key", "spec:", ["key:spec", "text::"]],
  ["keys in braces", "  workers: {replicas: 2, size: small}", ["text:  ", "key:workers", "text:: {", "key:replicas", "text:: 2, ", "key:size", "text:: small}"]],
  ["a comment behind a value", "version: v1 # newest", ["key:version", "text:: v1 ", "comment:# newest"]],
  ["a # in quotes", 'a: "x # y"', ["key:a", 'text:: "x # y"']],
  ["a time, which is no key", "at: 10:30:00", ["key:at", "text:: 10:30:00"]],
  ["an item of a list", "- name: a", ["text:- ", "key:name", "text:: a"]],
  ["an empty line", "", []],
])("a line with %s", (_, line, want) => expect(tokens(line).map((t) => `${t.kind}:${t.text}`)).toEqual(want));

describe("a difference", () => {
  const git = `diff --git a/clusters/web/shop/cluster.yaml b/clusters/web/shop/cluster.yaml
index 1..2 100644
--- a/clusters/web/shop/cluster.yaml
+++ b/clusters/web/shop/cluster.yaml
@@ -6,3 +6,3 @@ spec:
   network: lan
-  workers: {replicas: 2}
+  workers: {replicas: 4}
--- a list item that is gone
\\ No newline at end of file
diff --git a/new.yaml b/new.yaml
new file mode 100644
--- /dev/null
+++ b/new.yaml
@@ -0,0 +1 @@
+a: 1
diff --git a/old.yaml b/old.yaml
deleted file mode 100644
--- a/old.yaml
+++ /dev/null
@@ -1 +0,0 @@
-b: 1
`;
  const files = parseDiff(git);
  it("is one of each file", () => expect(files.map((f) => f.path)).toEqual(["clusters/web/shop/cluster.yaml", "new.yaml", "old.yaml"]));
  it("counts its lines", () => expect(files.map((f) => [f.added, f.removed])).toEqual([[1, 2], [1, 0], [0, 1]]));
  it("knows each line", () => expect(files[0]!.lines.map((l) => l.kind)).toEqual(["at", "same", "del", "add", "del"]));
  it("may have no head of git", () => expect(parseDiff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")[0]).toMatchObject({ path: "x", added: 1, removed: 1 }));
  it("may be empty", () => expect(parseDiff("")).toEqual([]));
});
