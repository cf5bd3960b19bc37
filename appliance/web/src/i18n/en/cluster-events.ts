import type { Section } from "../texts";

export default {
  title: "Events",
  time: "Time",
  type: "Kind",
  reason: "Reason",
  object: "About",
  message: "What happened",
  count: "Times",
  phoneLine: { one: "{reason}, {object}", other: "{reason}, {object}, {n} times" },
  warning: "Warning",
  normal: "Normal",
  onlyWarnings: "Warnings only",
  all: "All",
  which: "Which events",
  none: "There are no events",
  noneHint: "Kubernetes keeps events for an hour. What the cluster waits for now is on its overview.",
  noWarnings: "There are no warnings",
} as const satisfies Section;
