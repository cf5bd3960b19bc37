import { quantity } from "@/components/Time/words";
import type { ClusterClaimSpec, Size, MachineSize } from "@/api/types";

/** bytesOf is a Kubernetes quantity such as 4Gi in bytes; 0 where it is none. */
export function bytesOf(text: string | undefined): number {
  return quantity(text) ?? 0;
}

/** Numbers is what machines take. */
export interface Numbers {
  vms: number;
  cpu: number;
  memoryBytes: number;
  diskBytes: number;
}

/** numbersOf is what one machine of a size takes; nothing where the Fleet has no such size. */
export function numbersOf(machine: MachineSize, sizes: Size[]): Numbers {
  const size = machine.size === undefined || machine.size === "" ? machine : sizes.find((s) => s.name === machine.size);
  return {
    vms: 1,
    cpu: size?.cpu ?? 0,
    memoryBytes: bytesOf(size?.memory),
    diskBytes: bytesOf(size?.disk),
  };
}

/** WorkerPool is a pool of a claim, the one without a name included. */
export type WorkerPool = { name: string; place: string; replicas: number } & MachineSize;

/** workerPools are a claim's worker pools, with the place of each in the claim. */
export function workerPools(spec: ClusterClaimSpec): WorkerPool[] {
  if (spec.pools !== undefined && spec.pools.length > 0) {
    return spec.pools.map((p, i) => ({ ...p, place: `spec.pools[${i}]` }));
  }
  return spec.workers === undefined ? [] : [{ ...spec.workers, name: "workers", place: "spec.workers" }];
}

/** needsOf is what Git wants for a claim in all. */
export function needsOf(spec: ClusterClaimSpec, sizes: Size[]): Numbers {
  const sum: Numbers = { vms: 0, cpu: 0, memoryBytes: 0, diskBytes: 0 };
  if (spec.state === "Deleted") {
    return sum;
  }
  for (const part of [spec.controlPlane, ...workerPools(spec)]) {
    const one = numbersOf(part, sizes);
    sum.vms += part.replicas;
    sum.cpu += part.replicas * one.cpu;
    sum.memoryBytes += part.replicas * one.memoryBytes;
    sum.diskBytes += part.replicas * one.diskBytes;
  }
  return sum;
}
