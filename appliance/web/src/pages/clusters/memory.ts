import { quantity } from "@/components/Time/words";
import type { ClusterClaimSpec, MachineSize, Size } from "@/api/types";

/** The memory that Git wants for a cluster's VMs, in bytes; undefined where a size is not known. */
export function memoryOf(spec: ClusterClaimSpec | undefined, sizes: readonly Size[]): number | undefined {
  if (!spec) return undefined;
  const pools = [spec.controlPlane, ...(spec.workers ? [spec.workers] : []), ...(spec.pools ?? [])];
  let sum = 0;
  for (const p of pools) {
    const each = memoryOfMachine(p, sizes);
    if (each === undefined) return undefined;
    sum += each * p.replicas;
  }
  return sum;
}

function memoryOfMachine(m: MachineSize, sizes: readonly Size[]): number | undefined {
  return quantity(m.memory ?? sizes.find((s) => s.name === m.size)?.memory);
}
