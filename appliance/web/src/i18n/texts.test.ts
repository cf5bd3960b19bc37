import { describe, expect, it, test } from "vitest";
import de from "./de";
import en from "./en";
import server from "./en/server";
import { preferred, sayer } from ".";
import { type Message, pieces, type Section } from "./texts";
import { saidIn, type Sentence } from "./told";

/** The parameters of a message, in any order. */
function params(message: Message): string[] {
  const sentences = typeof message === "string" ? [message] : [message.one, message.other];
  const names = sentences.flatMap((s) => pieces(s).flatMap((p) => ("param" in p ? [p.param] : [])));
  return [...new Set(names)].sort();
}

describe("every text is there in both languages", () => {
  const [english, german] = [{ ...en, server }, de] as unknown as Record<string, Section>[];
  test("the sections are the same", () => expect(Object.keys(german!)).toEqual(Object.keys(english!)));
  for (const [name, section] of Object.entries(english!)) {
    test(name, () => {
      expect(Object.keys(german![name]!).sort()).toEqual(Object.keys(section).sort());
      for (const [key, message] of Object.entries(section)) {
        const other = german![name]![key]!;
        const [mine, theirs] = [params(message), params(other)].map((p) => p.filter((n) => n !== "n"));
        expect(theirs, `${name}.${key}`).toEqual(mine);
        if (params(other).includes("n")) expect(typeof message === "object" || params(message).includes("n"), `${name}.${key} counts`).toBe(true);
      }
    });
  }
});

describe("sentences", () => {
  const say = sayer({ plain: "Nothing to do.", one: "{who} waits for {what}.", count: { one: "1 node", other: "{n} nodes of {who}" } }, "en");
  it("puts parameters in", () => expect(say("one", { who: "web/shop", what: "an address" })).toBe("web/shop waits for an address."));
  it("counts", () => expect([1, 2, 0].map((n) => say("count", { n, who: "shop" }))).toEqual(["1 node", "2 nodes of shop", "0 nodes of shop"]));
  it("knows what it does not know", () => expect(say.maybe("nothing")).toBeUndefined());
  it("leaves braces of values alone", () => expect(say("one", { who: "{what}", what: "x" })).toBe("{what} waits for x."));
});

describe("sentences of the server", () => {
  const texts = { fits: "Braucht {what}. Passt auf {nodes}.", vms: { one: "{n} VM", other: "{n} VMs" }, since: "seit {span}: {size}{hint}" };
  const say = (sentence: Sentence) => saidIn(texts, "de", sentence);
  it("are put together from their parts", () => {
    const what = [{ code: "vms", params: { n: 1 } }, { code: "vms", params: { n: 2 } }];
    expect(say({ code: "fits", params: { what, nodes: ["pve1", "pve2"] } })).toBe("Braucht 1 VM und 2 VMs. Passt auf pve1 und pve2.");
  });
  it("have sizes and times as people write them", () => {
    expect(say({ code: "since", params: { span: { seconds: 90 }, size: { bytes: 3 * 2 ** 29 }, hint: { code: "" } } })).toBe("seit 1 min 30 s: 1,5 GB");
  });
  it("are left to English where there are none", () => expect(say({ code: "new", params: {} })).toBeUndefined());
});

test.each([
  ["what was chosen", "de", ["en-GB"], "de"],
  ["the browser's first that there is", null, ["fr-FR", "de-AT", "en"], "de"],
  ["English where none is there", null, ["fr"], "en"],
  ["nothing that does not exist", "xx", ["de"], "de"],
] as const)("the language is %s", (_, chosen, browser, want) => expect(preferred(chosen, browser)).toBe(want));
