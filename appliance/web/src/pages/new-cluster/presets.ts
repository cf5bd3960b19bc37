import type { Size } from "@/api/types";
import { bytesOf } from "../quantity";
import { machineOf, onlyPool, type MachineForm, type NewClusterForm } from "./form";

/** PresetName is a size of a whole cluster in one word. */
export type PresetName = "trial" | "standard" | "large";

/** Preset is a size of a whole cluster. */
export interface Preset {
  name: PresetName;
  controlPlane: { replicas: number; machine: MachineForm };
  workers: { replicas: number; machine: MachineForm };
}

/** What kubeadm's own checks ask of a control-plane node: 2 CPUs and 1700 MB; the rest leaves room for what runs beside it. */
const leastCPU = 2;
const leastMemory = 2 * 1024 ** 3;

/** presetsOf are the presets that the Fleet's sizes allow, smallest first. */
export function presetsOf(sizes: Size[]): Preset[] {
  const fit = sizes
    .filter((s) => s.cpu >= leastCPU && bytesOf(s.memory) >= leastMemory)
    .toSorted((a, b) => bytesOf(a.memory) - bytesOf(b.memory) || a.cpu - b.cpu);
  const small = machineOf(fit[0]);
  const next = machineOf(fit[1] ?? fit[0]);
  return [
    { name: "trial", controlPlane: { replicas: 1, machine: small }, workers: { replicas: 1, machine: small } },
    { name: "standard", controlPlane: { replicas: 3, machine: small }, workers: { replicas: 2, machine: small } },
    { name: "large", controlPlane: { replicas: 3, machine: next }, workers: { replicas: 5, machine: next } },
  ];
}

/** withPreset is the form with a preset's machines. */
export function withPreset(form: NewClusterForm, preset: Preset): NewClusterForm {
  return {
    ...form,
    controlPlane: preset.controlPlane,
    pools: [{ key: onlyPool, name: onlyPool, ...preset.workers }],
  };
}

/** presetOf is the preset that a form's machines are; undefined where somebody chose their own. */
export function presetOf(form: NewClusterForm, presets: Preset[]): Preset | undefined {
  const [only, ...others] = form.pools;
  if (only === undefined || others.length > 0 || only.name !== onlyPool) {
    return undefined;
  }
  return presets.find(
    (p) =>
      p.controlPlane.replicas === form.controlPlane.replicas &&
      same(p.controlPlane.machine, form.controlPlane.machine) &&
      p.workers.replicas === only.replicas &&
      same(p.workers.machine, only.machine),
  );
}

function same(a: MachineForm, b: MachineForm): boolean {
  if (a.size !== b.size) {
    return false;
  }
  return a.size !== "" || (a.cpu === b.cpu && a.memory === b.memory && a.disk === b.disk);
}
