import type en from "../en/cluster-nodes";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  list: "Knoten",
  rack: "Proxmox-VE-Knoten und die VMs darauf",
  noPlace: "Noch ohne Platz",
  state: "Zustand",
  node: "Knoten",
  role: "Aufgabe",
  controlPlane: "Control Plane",
  worker: "Worker",
  workerOf: "Worker, {pool}",
  vm: "VM",
  vmNumber: "VM {vmid}",
  on: "Auf",
  address: "Adresse",
  cpuMemory: "vCPU / RAM",
  cpuMemoryOf: "{cpu} / {memory}",
  disk: "Platte",
  size: "{cpu} vCPU, {memory}, {disk} Platte",
  version: "Version",
  age: "Seit",
  madeBy: "Durch",
  ready: "Bereit",
  free: "{free} frei",
  placeLine: "{role}, VM {vmid} auf {node}",
  none: "Es gibt noch keine Knoten",
  noneHint: "Sie stehen hier, sobald Cluster API den ersten anlegt.",
  deleted: "Alle Knoten sind weg",
  lossSurvives: {
    one: "Fällt ein Proxmox-VE-Knoten aus, fehlen höchstens ein Control-Plane-Knoten und {n} Worker. Die API bleibt erreichbar.",
    other: "Fällt ein Proxmox-VE-Knoten aus, fehlen höchstens ein Control-Plane-Knoten und {n} Worker. Die API bleibt erreichbar.",
  },
  lossStops: "Fällt ein Proxmox-VE-Knoten aus, kann die API stillstehen, bis seine VMs wieder laufen.",
  console: "VM {vmid} in Proxmox VE",
};
export default texts;
