import { expect, test } from "vitest";
import { toldBy } from "./trailers";

test("trailers are told apart from people's words", () => {
  const body = `Because of the sale.

Kubehenge-User: alice@pve
Kubehenge-Checked: VM.Allocate /pool/kubehenge/web.shop
Kubehenge-Checked: SDN.Use /sdn/zones/localnetwork/vmbr0
`;
  expect(toldBy(body)).toEqual({
    text: "Because of the sale.",
    checked: [
      { privilege: "VM.Allocate", path: "/pool/kubehenge/web.shop" },
      { privilege: "SDN.Use", path: "/sdn/zones/localnetwork/vmbr0" },
    ],
  });
});

test.each([
  ["nothing", undefined, ""],
  ["an empty message", "", ""],
  ["words without trailers", "One line.\n\nAnother: line\nwithout trailers", "One line.\n\nAnother: line\nwithout trailers"],
])("%s has no trailers", (_, body, text) => {
  expect(toldBy(body)).toEqual({ text, checked: [] });
});
