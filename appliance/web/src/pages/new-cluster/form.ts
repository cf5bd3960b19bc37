import type { ClusterClaimSpec, Size, Fleet, MachineSize } from "@/api/types";

/** MachineForm is how large machines are, as the form holds it: a size of the Fleet's by name, or three numbers of one's own. */
export interface MachineForm {
  /** size is a name of the Fleet's sizes; empty means the numbers below. */
  size: string;
  cpu: number;
  /** memory and disk are in GiB. */
  memory: number;
  disk: number;
}

/** PoolForm is a worker pool. */
export interface PoolForm {
  /** key tells rows of the form apart and is in no file. */
  key: string;
  name: string;
  replicas: number;
  machine: MachineForm;
}

/** NewClusterForm is all that may be said of a new cluster. What is empty is left out of the file, and the server chooses. */
export interface NewClusterForm {
  namespace: string;
  name: string;
  class: string;
  version: string;
  network: string;
  endpoint: string;
  controlPlane: { replicas: number; machine: MachineForm };
  pools: PoolForm[];
  nodes: string[];
  storage: string;
  podCIDR: string;
  serviceCIDR: string;
}

/** onlyPool is the name of a worker pool that needs no name: such a pool is written as workers. */
export const onlyPool = "workers";

/** specOf is the claim's spec as the file will hold it. */
export function specOf(form: NewClusterForm): ClusterClaimSpec {
  return {
    class: form.class,
    version: form.version.trim(),
    network: form.network,
    endpoint: form.endpoint.trim(),
    controlPlane: { replicas: form.controlPlane.replicas, ...sizeOf(form.controlPlane.machine) },
    ...poolsOf(form.pools),
    ...(form.nodes.length > 0 ? { nodes: form.nodes } : {}),
    ...given("storage", form.storage),
    ...given("podCIDR", form.podCIDR),
    ...given("serviceCIDR", form.serviceCIDR),
  };
}

function given<K extends string>(field: K, text: string): { [P in K]?: string } {
  const value = text.trim();
  return value === "" ? {} : ({ [field]: value } as { [P in K]?: string });
}

function poolsOf(pools: PoolForm[]): Pick<ClusterClaimSpec, "workers" | "pools"> {
  const [first, ...others] = pools;
  if (first === undefined) {
    return {};
  }
  if (others.length === 0 && first.name === onlyPool) {
    return { workers: { replicas: first.replicas, ...sizeOf(first.machine) } };
  }
  return { pools: pools.map((p) => ({ name: p.name.trim(), replicas: p.replicas, ...sizeOf(p.machine) })) };
}

/** sizeOf is a machine's size as the file will hold it. */
export function sizeOf(machine: MachineForm): MachineSize {
  if (machine.size !== "") {
    return { size: machine.size };
  }
  return { cpu: machine.cpu, memory: `${machine.memory}Gi`, disk: `${machine.disk}Gi` };
}

/** machineOf is a size of the Fleet's for the form; without one, numbers that a small cluster can run on. */
export function machineOf(size: Size | undefined): MachineForm {
  return { size: size?.name ?? "", cpu: 2, memory: 4, disk: 40 };
}

/** freePoolName is the first of workers, pool-2, pool-3… that no pool has. */
export function freePoolName(pools: PoolForm[]): string {
  const taken = new Set(pools.map((p) => p.name));
  if (!taken.has(onlyPool)) {
    return onlyPool;
  }
  let n = 2;
  while (taken.has(`pool-${n}`)) {
    n++;
  }
  return `pool-${n}`;
}

/** versionsOf are the versions that a class can be made with here, newest first; all that are known where the class names none. */
export function versionsOf(fleet: Pick<Fleet, "classes" | "versions">, className: string): string[] {
  return fleet.classes.find((c) => c.name === className)?.versions ?? fleet.versions ?? [];
}

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** Mistake is what is wrong with a name before the server is asked; the page has a sentence for each. */
export type Mistake = "missing" | "label" | "long" | "taken" | "own";

/** longestIdentity is how long namespace and name may be together: a Proxmox VE tag holds both. */
export const longestIdentity = 50;

/** mistakeInName is what is wrong with a name; undefined when nothing is. taken are the clusters that the person sees, as namespace/name. */
export function mistakeInName(namespace: string, name: string, taken: ReadonlySet<string>): Mistake | undefined {
  if (name === "") {
    return "missing";
  }
  if (!label.test(name)) {
    return "label";
  }
  if (namespace.length + name.length > longestIdentity) {
    return "long";
  }
  return taken.has(`${namespace}/${name}`) ? "taken" : undefined;
}

const ownNamespace = /^(default|kube-.*|kubehenge-.*|.*-system)$/;

/** mistakeInNamespace is what is wrong with a namespace; undefined when nothing is. */
export function mistakeInNamespace(namespace: string): Mistake | undefined {
  if (namespace === "") {
    return "missing";
  }
  if (!label.test(namespace)) {
    return "label";
  }
  return ownNamespace.test(namespace) ? "own" : undefined;
}

/** hotLines are the lines (from 1) of a file that it did not have before, so that the page can show what the last key did. */
export function hotLines(before: string | undefined, after: string): number[] {
  if (before === undefined || before === after) {
    return [];
  }
  const had = new Map<string, number>();
  for (const line of before.split("\n")) {
    had.set(line, (had.get(line) ?? 0) + 1);
  }
  const hot: number[] = [];
  after.split("\n").forEach((line, i) => {
    const left = had.get(line) ?? 0;
    if (left > 0) {
      had.set(line, left - 1);
    } else if (line !== "") {
      hot.push(i + 1);
    }
  });
  return hot;
}
