import type { Fleet } from "@/api";
import { Field, NumberInput, Select, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { bytesOf } from "../quantity";
import type { MachineForm } from "./form";
import css from "./NewCluster.module.css";

/** The size of machines: one of the Fleet's by name, or numbers of one's own. */
export function MachineFields({ label, fleet, machine, error, onChange }: { label: string; fleet: Fleet; machine: MachineForm; error?: string; onChange: (machine: MachineForm) => void }) {
  const t = useTexts("newCluster");
  const say = useWords();
  const options = [
    ...fleet.sizes.map((s) => ({
      value: s.name,
      label: s.name,
      detail: t("machineNumbers", { cpu: s.cpu, memory: say.bytes(bytesOf(s.memory)), disk: say.bytes(bytesOf(s.disk)) }),
    })),
    { value: "", label: t("ownNumbers") },
  ];
  return (
    <>
      <Field label={label} error={error}>
        <Select value={machine.size} onChange={(size) => onChange({ ...machine, size })} options={options} />
      </Field>
      {machine.size === "" && (
        <div className={css.three}>
          <Field label={t("cpu")}>
            <NumberInput value={machine.cpu} min={1} max={512} onChange={(cpu) => cpu !== null && onChange({ ...machine, cpu })} />
          </Field>
          <Field label={t("memory")}>
            <NumberInput value={machine.memory} min={1} max={4096} onChange={(memory) => memory !== null && onChange({ ...machine, memory })} />
          </Field>
          <Field label={t("disk")}>
            <NumberInput value={machine.disk} min={5} max={65536} onChange={(disk) => disk !== null && onChange({ ...machine, disk })} />
          </Field>
        </div>
      )}
    </>
  );
}
