import type en from "../en/cluster-access";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  youHave: "Auf {cluster} haben Sie",
  privilege: "Privileg",
  may: "Erlaubt",
  action: "Aktion",
  see: "Ansehen",
  change: "Skalieren, aktualisieren, ändern, rückgängig machen, löschen",
  kubeconfig: "Kubeconfig des Administrators herunterladen",
  yes: "Sie dürfen.",
  no: "Sie dürfen nicht.",
  onPool: "Alles davon entscheiden die Privilegien auf {path} in Proxmox VE.",
  mayLook: "Sie dürfen {cluster} ansehen, nicht ändern.",
  mayNotAll: "Sie dürfen {cluster} ändern, aber seine Kubeconfig nicht haben.",
  share: "Freigeben",
  shareText: "Wer eine Rolle auf dem Pool hat, sieht den Cluster hier, so wie seine VMs in Proxmox VE. Eine Rolle auf dem Pool ersetzt, was geerbt wird, muss also auch VM.Audit enthalten.",
  shareLook: "Damit jemand ihn ansehen darf:",
  shareChange: "Damit jemand ihn ändern darf:",
  someone: "BENUTZER@REALM",
  kubeconfigTitle: "Kubeconfig",
  kubeconfigText: "Sie gehört dem Administrator des Clusters und öffnet alles darin. Das Herunterladen steht im Protokoll; hier wird nichts davon aufgehoben.",
  download: "Kubeconfig herunterladen",
  done: "Die Kubeconfig von {cluster} ist heruntergeladen. Das Protokoll hält es fest.",
  terminal: "Im Terminal",
  signIn: "Einmal anmelden:",
  getKubeconfig: "Kubeconfig holen und benutzen:",
  look: "Ansehen, skalieren und aktualisieren:",
  clone: "Oder die Datei bearbeiten und pushen:",
};
export default texts;
