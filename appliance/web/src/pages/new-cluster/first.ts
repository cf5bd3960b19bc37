import type { Fleet } from "@/api";
import { type NewClusterForm, versionsOf } from "./form";
import { presetsOf, withPreset } from "./presets";

/** firstForm is the form as it opens: the usual size, the newest version, the first network with room. wanted is the namespace that the address names. */
export function firstForm(fleet: Pick<Fleet, "namespaces" | "classes" | "versions" | "networks" | "sizes">, wanted: string | undefined): NewClusterForm {
  const className = fleet.classes[0]?.name ?? "";
  const roomy = fleet.networks.find((n) => n.endpoints.free > 0 && n.nodes.free > 0) ?? fleet.networks[0];
  const presets = presetsOf(fleet.sizes);
  const usual = presets.find((p) => p.name === "standard") ?? presets[0];
  const form: NewClusterForm = {
    namespace: wanted ?? fleet.namespaces[0] ?? "",
    name: "",
    class: className,
    version: versionsOf(fleet, className)[0] ?? "",
    network: roomy?.name ?? "",
    endpoint: "",
    controlPlane: { replicas: 1, machine: { size: "", cpu: 2, memory: 4, disk: 40 } },
    pools: [],
    nodes: [],
    storage: "",
    podCIDR: "",
    serviceCIDR: "",
  };
  return usual === undefined ? form : withPreset(form, usual);
}

/** withVersion gives a form the newest version, where none was known when it opened. */
export function withVersion(form: NewClusterForm, fleet: Pick<Fleet, "classes" | "versions">): NewClusterForm {
  return form.version === "" ? { ...form, version: versionsOf(fleet, form.class)[0] ?? "" } : form;
}
