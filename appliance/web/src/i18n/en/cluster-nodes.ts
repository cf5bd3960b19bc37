import type { Section } from "../texts";

export default {
  title: "Kubehenge",
} as const satisfies Section;
