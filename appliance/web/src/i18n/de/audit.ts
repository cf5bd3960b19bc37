import type en from "../en/audit";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Protokoll",
  home: "Start",
  lede: "Wer was von wo geändert hat, und welche Geheimnisse ausgegeben wurden. Neueste zuerst.",
  time: "Zeit",
  user: "Wer",
  from: "Von",
  what: "Was",
  on: "Woran",
  result: "Ergebnis",
  refusedWhy: "Abgelehnt: {reason}",
  "what-commit": "Änderung",
  "what-push": "Push",
  "what-kubeconfig": "Kubeconfig",
  "what-sign-in": "Anmeldung",
  "what-sign-out": "Abmeldung",
  filter: "Filtern",
  filterHint: "Benutzer, Cluster oder Wörter",
  which: "Welche Ereignisse",
  all: "Alle",
  onlyRefused: "Nur abgelehnte",
  howMany: "Wie viele",
  newest: "Neueste {n}",
  none: "Noch steht nichts darin",
  noneFound: "Kein Ereignis passt",
  nobody: "niemand",
  more: "Ältere Ereignisse stehen in audit.jsonl im Datenordner der Appliance.",
};
export default texts;
