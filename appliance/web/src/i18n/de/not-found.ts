import type en from "../en/not-found";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Nicht gefunden",
  clusters: "Cluster",
  noPage: "Diese Seite gibt es nicht",
  noPageHint: "Die Adresse {path} führt nirgendwohin.",
  noCluster: "Es gibt keinen Cluster {cluster}, oder Sie dürfen ihn nicht sehen",
  noClusterHint: "Um einen Cluster zu sehen, braucht es VM.Audit auf seinem Pool in Proxmox VE.",
  clustersYouSee: "Cluster, die Sie sehen",
  home: "Start",
  command: "den Befehl",
  askToRun: "Wer in Proxmox VE Rechte vergibt, führt dies aus:",
  helps: "Was hilft",
  orClick: "Oder unter Rechenzentrum, Berechtigungen, Hinzufügen. Es gilt hier nach höchstens 30 Sekunden.",
};
export default texts;
