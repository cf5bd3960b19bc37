import type { ClusterClaimSpec, Conflict, Field, MachineSize } from "@/api/types";
import type { Keep } from "../conflict";
import { workerPools } from "../quantity";

/** Part is the control plane or a worker pool, and how many nodes it is to have. */
export interface Part {
  /** pool is the worker pool's name; empty for the control plane. */
  pool: string;
  /** place is where the claim says it, such as spec.workers. */
  place: string;
  machine: MachineSize;
  was: number;
  wanted: number;
}

/** controlPlaneChoices are how many control-plane nodes there may be: etcd wants an odd number. */
export const controlPlaneChoices = [1, 3, 5];

/** mostWorkers is how many workers a pool has at most. */
export const mostWorkers = 500;

/** partsOf are the parts of a claim that can be scaled, as they are. */
export function partsOf(spec: ClusterClaimSpec): Part[] {
  const { replicas, ...machine } = spec.controlPlane;
  const controlPlane: Part = { pool: "", place: "spec.controlPlane", machine, was: replicas, wanted: replicas };
  const pools = workerPools(spec).map(
    ({ name, place, replicas: n, ...size }): Part => ({ pool: name, place, machine: size, was: n, wanted: n }),
  );
  return [controlPlane, ...pools];
}

/** changed are the parts that are to have another number of nodes. */
export function changed(parts: Part[]): Part[] {
  return parts.filter((p) => p.wanted !== p.was);
}

/** fieldsOf are the fields of the claim that a scaling sets. */
export function fieldsOf(parts: Part[]): Field[] {
  return changed(parts).map((p) => ({ path: `${p.place}.replicas`, value: p.wanted }));
}

/** subjectOf is the commit's first line, which the server writes itself where one part changes. Commits are in English. */
export function subjectOf(cluster: string, parts: Part[]): string {
  const [first, ...others] = changed(parts);
  if (first === undefined) {
    return "";
  }
  if (others.length === 0) {
    return `Scale ${nameOf(first)} of ${cluster} to ${first.wanted}`;
  }
  return `Scale ${cluster}: ${[first, ...others].map((p) => `${nameOf(p)} to ${p.wanted}`).join(", ")}`;
}

function nameOf(part: Part): string {
  return part.pool === "" ? "control plane" : part.pool;
}

/** wanting is the parts with another number wanted of one of them. */
export function wanting(parts: Part[], place: string, wanted: number): Part[] {
  return parts.map((p) => (p.place === place ? { ...p, wanted } : p));
}

/** settled is the parts once it is decided whose number stays where somebody else changed one: theirs is what it was now, in either case. */
export function settled(parts: Part[], conflict: Conflict, keep: Keep): Part[] {
  const theirs = Number(conflict.theirs);
  return parts.map((p) => {
    if (`${p.place}.replicas` !== conflict.field || !Number.isInteger(theirs)) {
      return p;
    }
    return { ...p, was: theirs, wanted: keep === "theirs" ? theirs : p.wanted };
  });
}
