import type en from "../en/cluster-file";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  file: "Datei",
  theFile: "die Datei",
  cloneLine: "die Zeile, die das Repository klont",
  asOf: "Stand {commit}",
  none: "Die Datei lässt sich nicht zeigen",
  noneHint: "Der Claim setzt sich aus Dateien zusammen, die auch andere benutzen. Das Repository enthält sie alle.",
  edit: "Bearbeiten",
  editText: "Jede Änderung auf dieser Seite ist eine Bearbeitung dieser Datei. Mit Git geht dasselbe, und Kommentare bleiben:",
  problems: "Was daran nicht stimmt",
};
export default texts;
