import type en from "../en/cluster-events";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Ereignisse",
  time: "Zeit",
  type: "Art",
  reason: "Grund",
  object: "Betrifft",
  message: "Was geschah",
  count: "Wie oft",
  phoneLine: { one: "{reason}, {object}", other: "{reason}, {object}, {n}-mal" },
  warning: "Warnung",
  normal: "Normal",
  onlyWarnings: "Nur Warnungen",
  all: "Alle",
  which: "Welche Ereignisse",
  none: "Es gibt keine Ereignisse",
  noneHint: "Kubernetes behält Ereignisse eine Stunde. Worauf der Cluster jetzt wartet, steht in seiner Übersicht.",
  noWarnings: "Es gibt keine Warnungen",
};
export default texts;
