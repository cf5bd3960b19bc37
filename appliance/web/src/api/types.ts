/** What the appliance's JSON API speaks. Times are RFC 3339, in UTC. Optional fields may be absent, because they are not known or not known yet. */

import type { Told } from "@/i18n/told";

export type { Told };

export type Phase = "Pending" | "Provisioning" | "Running" | "Updating" | "Error" | "Deleting" | "Deleted" | "Unknown";

/** A privilege on an ACL path of Proxmox VE that is missing; why is what takes it. */
export interface Need {
  privilege: string;
  path: string;
  why: string;
}

/** Whether the person may do something now, and why not, in the server's words. */
export interface Answer extends Told {
  ok: boolean;
  reason?: string;
  missing?: Need[];
}

/** Something that is wrong in a file of the repository. */
export interface Problem extends Told {
  path: string;
  line?: number;
  field?: string;
  message: string;
}

/** One field that somebody else changed meanwhile. */
export interface Conflict {
  field: string;
  was: unknown;
  theirs: unknown;
  yours: unknown;
  by?: string;
  commit?: string;
}

/** The body of an answer that is not a success. */
export interface Failure extends Told {
  error: string;
  missing?: Need[];
  problems?: Problem[];
  conflicts?: Conflict[];
  retryAfterSeconds?: number;
  factors?: Factors;
}

/** The kinds of second factor that an account has. */
export interface Factors {
  totp: boolean;
  yubico: boolean;
  recovery: boolean;
}
export type FactorKind = keyof Factors;

export interface Realm {
  name: string;
  type: string;
  comment?: string;
  default?: boolean;
}

export interface Session {
  user: string;
  csrf: string;
  ends: string;
  can?: { audit?: Answer; create?: Answer };
}

/** Present only while the management cluster does not answer. */
export interface Stale extends Told {
  since: string;
  message: string;
}

/** How far the agent is: behind counts the commits of the branch that are not applied yet. */
export interface Agent {
  commit?: string;
  behind?: number;
  message?: string;
  since?: string;
  tip?: string;
}

export interface Range {
  total: number;
  used: number;
  free: number;
  next?: string;
}

export interface Network {
  name: string;
  bridge: string;
  vlan?: number;
  subnet: string;
  gateway: string;
  nodes: Range;
  endpoints: Range;
}

export interface Size {
  name: string;
  cpu: number;
  memory: string;
  disk: string;
}

export interface Class {
  name: string;
  distribution: string;
  versions?: string[];
}

export interface Fleet {
  commit: string;
  commitTime?: string;
  agent: Agent;
  stale?: Stale;
  workloadPool: string;
  nodes: string[];
  storages: string[];
  networks: Network[];
  sizes: Size[];
  classes: Class[];
  namespaces: string[];
  /** Kubernetes versions that templates exist for or that clusters use, newest first. */
  versions: string[];
  problems?: Problem[];
  can: { create: Answer; audit: Answer; repository: Answer };
}

export interface MachineSize {
  size?: string;
  cpu?: number;
  memory?: string;
  disk?: string;
}
export interface ControlPlane extends MachineSize {
  replicas: number;
}
export interface Workers extends MachineSize {
  replicas: number;
}
export interface Pool extends Workers {
  name: string;
}

/** What a cluster should be, as in its file; see api/v1alpha1. */
export interface ClusterClaimSpec {
  class: string;
  version: string;
  network: string;
  endpoint: string;
  controlPlane: ControlPlane;
  workers?: Workers;
  pools?: Pool[];
  nodes?: string[];
  storage?: string;
  podCIDR?: string;
  serviceCIDR?: string;
  state?: "Running" | "Deleted";
}

/** What a person asks for; what is left out is completed by the server. */
export type SpecDraft = Partial<Omit<ClusterClaimSpec, "controlPlane">> & { controlPlane?: Partial<ControlPlane> };

export interface Pending {
  commit: string;
  subject: string;
  time: string;
}

export interface Summary extends Told {
  namespace: string;
  name: string;
  path: string;
  phase: Phase;
  /** One sentence: what is being waited for, or how it stands. */
  message: string;
  /** When the phase began. */
  since?: string;
  /** When the message began to be true. */
  messageSince?: string;
  version?: string;
  wantedVersion: string;
  nodes: { ready: number; wanted: number };
  class: string;
  network: string;
  endpoint: string;
  /** Who made the commit that added it, such as alice@pve. */
  owner?: string;
  /** The newest commit that changed it and that the agent has not applied yet. */
  pending?: Pending;
  problems?: Problem[];
  spec?: ClusterClaimSpec;
  can: { change?: Answer; delete?: Answer; kubeconfig?: Answer };
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  since?: string;
}

export interface Step extends Told {
  name: string;
  state: "done" | "current" | "todo" | "failed";
  started?: string;
  ended?: string;
  message?: string;
  /** The commit that was accepted, and who made it. */
  commit?: string;
  by?: string;
}

export interface Node extends Told {
  name: string;
  role: "control-plane" | "worker";
  pool?: string;
  phase: string;
  message?: string;
  vmid?: number;
  proxmoxNode?: string;
  address?: string;
  version?: string;
  cpu?: number;
  memoryBytes?: number;
  diskBytes?: number;
  ready: boolean;
  since?: string;
  commit?: string;
}

export interface ClusterEvent {
  time: string;
  type: "Normal" | "Warning";
  reason: string;
  message: string;
  object: string;
  count: number;
}

export interface Allocation {
  network: string;
  addresses: string[];
  vmIDs: { start: number; end: number };
}

/** What Git wants in all. */
export interface Resources {
  vms: number;
  cpu: number;
  memoryBytes: number;
  diskBytes: number;
}

export interface Detail extends Summary {
  file?: string;
  fileName?: string;
  conditions?: Condition[];
  steps?: Step[];
  nodesList?: Node[];
  events?: ClusterEvent[];
  allocation?: Allocation;
  resources?: Resources;
  upgrades?: string[];
}

/** A cluster's volumes, which die with it, as far as Proxmox VE shows them to the person. */
export interface Volumes {
  volumes: { id: string; node?: string; sizeBytes: number }[];
  sizeBytes: number;
  /** Why there may be more. */
  gaps?: ({ message: string } & Told)[];
}

export interface ClustersAnswer {
  commit: string;
  agent?: Agent;
  stale?: Stale;
  clusters: Summary[];
  can: { create: Answer };
}

export interface ClusterAnswer {
  commit: string;
  agent?: Agent;
  stale?: Stale;
  cluster: Detail;
}

export interface ClusterName {
  namespace: string;
  name: string;
}

/** A cluster that a commit touched, and what became of it. */
export interface Touched extends ClusterName {
  deed?: "created" | "changed" | "deleted" | "removed";
}

export interface Change {
  commit: string;
  subject: string;
  body?: string;
  author: string;
  time: string;
  user?: string;
  /** Kubehenge for its own signature, else the key's fingerprint; absent without a right one. */
  signedBy?: string;
  /** It was the tip of a push that Kubehenge took and gave its word for. */
  vouched?: boolean;
  /** The privileges that were verified, each "privilege path". */
  checked?: string[];
  /** How far the agent is with it; absent where that is not known. */
  state?: "applied" | "waiting" | "refused";
  clusters: Touched[];
  files: string[];
  /** The unified diff of the files that the person may see; only where one change is asked for. */
  diff?: string;
  /** The diff was too long and ends before its end. */
  cut?: boolean;
  undo: Answer;
}

export interface ChangesAnswer {
  changes: Change[];
  more: boolean;
}

/** How the two repositories of a mirror stand. */
export type MirrorState = "unknown" | "in-step" | "behind" | "diverged" | "refused" | "failed";

export interface Repository {
  cloneURL: string;
  branch: string;
  tip?: Change;
  agent?: Agent;
  lastFetch?: string;
  mirror?: { url: string; direction: "to" | "from" | "both"; state: MirrorState; message?: string; since?: string };
  refused?: { time: string; user: string; message: string }[];
  signingKey: string;
}

export interface Capacity {
  nodes: {
    name: string;
    online: boolean;
    cpu: { total: number; used: number };
    memory: { totalBytes: number; usedBytes: number; kubehengeBytes: number };
  }[];
  storages: { name: string; node?: string; shared: boolean; totalBytes: number; usedBytes: number; kubehengeBytes: number }[];
  networks: Network[];
  /** What the clusters of each namespace take, the most memory first. */
  usage: ({ namespace: string; clusters: number } & Resources)[];
  stale?: Stale;
}

/** A task of Proxmox VE; its times are seconds since 1970, as Proxmox VE gives them, or RFC 3339. */
export interface Task {
  upid: string;
  node: string;
  type: string;
  id?: string;
  user: string;
  status?: string;
  starttime: number | string;
  endtime?: number | string;
}

export interface Fit extends Told {
  ok: boolean;
  message: string;
}

export interface Preview {
  file: string;
  can: Answer;
  spec?: ClusterClaimSpec;
  problems?: Problem[];
  fit?: Fit;
  needs?: { vms: number; cpu: number; memoryBytes: number; diskBytes: number; addresses: number };
}

export interface Effect extends Told {
  machine: string;
  action: "create" | "replace" | "delete" | "keep";
  why: string;
}

export interface Plan {
  diff: string;
  effects: Effect[];
  fit?: Fit;
  can: Answer;
  problems?: Problem[];
}

/** One field of a claim: path such as spec.workers.replicas. */
export interface Field {
  path: string;
  value: unknown;
}

/** What a change became. */
export interface Committed {
  commit: string;
  subject: string;
  checked?: Need[];
}

export interface AuditEvent {
  time: string;
  user?: string;
  session?: string;
  from?: string;
  what: string;
  on?: string;
  commit?: string;
  detail?: string;
  refused?: string;
}

/** What the stream of events says has changed. */
export type Topic = "clusters" | "fleet" | "changes" | "tasks";
