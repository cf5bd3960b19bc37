import type { Fleet } from "@/api";
import { Check, Field, Input, Segment, Select } from "@/components";
import { useTexts } from "@/i18n";
import { controlPlaneChoices } from "../change-plan/scale";
import { versionsOf } from "./form";
import { MachineFields } from "./MachineFields";
import css from "./NewCluster.module.css";
import { PoolFields } from "./PoolFields";
import { problemAt } from "./problems";
import type { NewCluster } from "./useNewCluster";

interface Props {
  fleet: Fleet;
  model: NewCluster;
}

/** The fields below Advanced. */
export function AdvancedFields({ fleet, model }: Props) {
  return (
    <div className={css.grid}>
      <ClassField fleet={fleet} model={model} />
      <ControlPlaneFields fleet={fleet} model={model} />
      <PoolFields fleet={fleet} model={model} />
      <StorageFields fleet={fleet} model={model} />
      <AddressFields model={model} />
    </div>
  );
}

function ClassField({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const choose = (name: string) => {
    const versions = versionsOf(fleet, name);
    const version = versions.includes(model.form.version) ? model.form.version : (versions[0] ?? model.form.version);
    model.change({ class: name, version });
  };
  return (
    <Field label={t("class")} hint={t("classHint")} error={problemAt(model.problems, "spec.class")}>
      <Select value={model.form.class} onChange={choose} options={fleet.classes.map((c) => ({ value: c.name, label: c.name, detail: c.distribution }))} />
    </Field>
  );
}

function ControlPlaneFields({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const { controlPlane } = model.form;
  return (
    <fieldset className={css.set}>
      <legend>{t("controlPlane")}</legend>
      <div>
        <Segment
          label={t("controlPlane")}
          value={String(controlPlane.replicas)}
          onChange={(n) => model.change({ controlPlane: { ...controlPlane, replicas: Number(n) } })}
          options={controlPlaneChoices.map((n) => ({ value: String(n), label: String(n) }))}
        />
      </div>
      <p className={css.hint}>{t("controlPlaneHint")}</p>
      <MachineFields
        label={t("controlPlaneMachine")}
        fleet={fleet}
        machine={controlPlane.machine}
        error={problemAt(model.problems, "spec.controlPlane")}
        onChange={(machine) => model.change({ controlPlane: { ...controlPlane, machine } })}
      />
    </fieldset>
  );
}

function StorageFields({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const { form, change } = model;
  const [first] = fleet.storages;
  const toggle = (node: string, checked: boolean) => change({ nodes: fleet.nodes.filter((n) => (n === node ? checked : form.nodes.includes(n))) });
  return (
    <>
      <Field label={t("storage")} error={problemAt(model.problems, "spec.storage")}>
        <Select
          value={form.storage}
          onChange={(storage) => change({ storage })}
          options={[
            { value: "", label: t("storageDefault", { storage: first ?? "" }) },
            ...fleet.storages.filter((s) => s !== first).map((s) => ({ value: s, label: s })),
          ]}
        />
      </Field>
      {fleet.nodes.length > 0 && (
        <fieldset className={css.set}>
          <legend>{t("proxmoxNodes")}</legend>
          <div className={css.checks}>
            {fleet.nodes.map((n) => (
              <Check key={n} checked={form.nodes.includes(n)} onChange={(checked) => toggle(n, checked)}>
                {n}
              </Check>
            ))}
          </div>
          <p className={css.hint}>{problemAt(model.problems, "spec.nodes") ?? t("proxmoxNodesHint")}</p>
        </fieldset>
      )}
    </>
  );
}

function AddressFields({ model }: Pick<Props, "model">) {
  const t = useTexts("newCluster");
  const { form, change, preview, problems } = model;
  return (
    <>
      <Field label={t("endpoint")} hint={t("endpointHint")} error={form.endpoint === "" ? undefined : problemAt(problems, "spec.endpoint")}>
        <Input mono placeholder={preview?.spec?.endpoint} value={form.endpoint} onChange={(e) => change({ endpoint: e.target.value })} />
      </Field>
      <div className={css.pair}>
        <Field label={t("podCIDR")} hint={t("rangeHint")} error={problemAt(problems, "spec.podCIDR")}>
          <Input mono placeholder={preview?.spec?.podCIDR || "10.244.0.0/16"} value={form.podCIDR} onChange={(e) => change({ podCIDR: e.target.value })} />
        </Field>
        <Field label={t("serviceCIDR")} hint={t("rangeHint")} error={problemAt(problems, "spec.serviceCIDR")}>
          <Input mono placeholder={preview?.spec?.serviceCIDR || "10.96.0.0/12"} value={form.serviceCIDR} onChange={(e) => change({ serviceCIDR: e.target.value })} />
        </Field>
      </div>
    </>
  );
}
