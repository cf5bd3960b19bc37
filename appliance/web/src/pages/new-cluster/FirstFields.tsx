import { useState } from "react";
import type { Fleet } from "@/api";
import { Field, Input, Joined, Select, TextButton, useWords } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { numbersOf } from "../quantity";
import { sizeOf, versionsOf } from "./form";
import css from "./NewCluster.module.css";
import { presetOf, presetsOf, type PresetName, withPreset } from "./presets";
import { problemAt } from "./problems";
import type { NewCluster } from "./useNewCluster";

interface Props {
  fleet: Fleet;
  model: NewCluster;
}

/** The four fields that a cluster needs. */
export function FirstFields(props: Props) {
  return (
    <>
      <NameField {...props} />
      <SizeField {...props} />
      <VersionField {...props} />
      <NetworkField {...props} />
    </>
  );
}

/** The choice that leads to a namespace of one's own; no namespace can be called so. */
const other = "…";

function NameField({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const { form, change } = model;
  const [own, setOwn] = useState(!fleet.namespaces.includes(form.namespace));
  const error = model.namespaceError ?? model.nameError ?? problemAt(model.problems, "metadata.namespace") ?? problemAt(model.problems, "metadata.name");
  const back = own && fleet.namespaces.length > 0 && (
    <TextButton
      onClick={() => {
        setOwn(false);
        change({ namespace: fleet.namespaces[0] ?? "" });
      }}
    >
      {t("knownNamespace")}
    </TextButton>
  );
  return (
    <Field label={t("name")} action={back} error={error} hint={own ? t("newNamespaceHint") : form.name === "" ? t("nameHint") : t("nameFree")}>
      <Joined>
        {own ? (
          <Input id={undefined} className={css.namespace} aria-label={t("newNamespace")} placeholder={t("namespace")} value={form.namespace} onChange={(e) => change({ namespace: e.target.value })} />
        ) : (
          <Select
            label={t("namespace")}
            className={css.namespace}
            value={form.namespace}
            onChange={(value) => {
              setOwn(value === other);
              change({ namespace: value === other ? "" : value });
            }}
            options={[...fleet.namespaces.map((n) => ({ value: n, label: `${n} /` })), { value: other, label: t("otherNamespace") }]}
          />
        )}
        <Input aria-label={t("name")} value={form.name} onChange={(e) => change({ name: e.target.value })} />
      </Joined>
    </Field>
  );
}

function SizeField({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const say = useWords();
  const presets = presetsOf(fleet.sizes);
  const chosen = presetOf(model.form, presets);
  const words: Record<PresetName, string> = { trial: t("trial"), standard: t("standard"), large: t("large") };
  const hints: Record<PresetName, string> = { trial: t("trialHint"), standard: t("standardHint"), large: t("largeHint") };
  const options = presets.map((p) => {
    const one = numbersOf(sizeOf(p.workers.machine), fleet.sizes);
    return {
      value: p.name as string,
      label: words[p.name],
      detail: t("nodesEach", { controlPlane: p.controlPlane.replicas, workers: p.workers.replicas, cpu: one.cpu, memory: say.bytes(one.memoryBytes) }),
    };
  });
  const workers = model.form.pools.reduce((sum, p) => sum + p.replicas, 0);
  // It stays in the list, since the control takes up another value once the chosen one has left it.
  const own = {
    value: "own",
    label: t("own"),
    detail: t("nodesOnly", { controlPlane: model.form.controlPlane.replicas, workers }),
    reason: chosen === undefined ? undefined : t("ownReason"),
  };
  return (
    <Field label={t("size")} hint={chosen === undefined ? t("ownHint") : hints[chosen.name]}>
      <Select
        value={chosen?.name ?? "own"}
        onChange={(value) => {
          const preset = presets.find((p) => p.name === value);
          if (preset !== undefined) {
            model.change(withPreset(model.form, preset));
          }
        }}
        options={[...options, own]}
      />
    </Field>
  );
}

function VersionField({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const { form, change } = model;
  const versions = versionsOf(fleet, form.class);
  const distribution = fleet.classes.find((c) => c.name === form.class)?.distribution ?? form.class;
  const error = problemAt(model.problems, "spec.version");
  if (versions.length === 0) {
    return (
      <Field label={t("version")} hint={t("noVersions")} error={form.version === "" ? undefined : error}>
        <Input mono placeholder={t("versionHint")} value={form.version} onChange={(e) => change({ version: e.target.value })} />
      </Field>
    );
  }
  return (
    <Field label={t("version")} error={error}>
      <Select
        value={form.version}
        onChange={(version) => change({ version })}
        options={versions.map((v, i) => ({ value: v, label: v, detail: i === 0 ? t("newestHere", { distribution }) : t("withDistribution", { distribution }) }))}
      />
    </Field>
  );
}

function NetworkField({ fleet, model }: Props) {
  const t = useTexts("newCluster");
  const { form, change, preview } = model;
  const network = fleet.networks.find((n) => n.name === form.network);
  const next = preview?.spec?.endpoint || network?.endpoints.next;
  const mono = (text: string) => <span className={layout.mono}>{text}</span>;
  const hint = () => {
    if (network === undefined) {
      return t("noNetworks");
    }
    if (form.endpoint.trim() !== "") {
      return t.rich("endpointOwn", { endpoint: mono(form.endpoint.trim()) });
    }
    if (network.endpoints.free === 0) {
      return t("endpointNone");
    }
    return next === undefined || next === "" ? undefined : t.rich("endpointNext", { endpoint: mono(next) });
  };
  return (
    <Field label={t("network")} hint={hint()} error={problemAt(model.problems, "spec.network") ?? (form.endpoint === "" ? problemAt(model.problems, "spec.endpoint") : undefined)}>
      <Select
        value={form.network === "" ? null : form.network}
        onChange={(value) => change({ network: value })}
        options={fleet.networks.map((n) => ({ value: n.name, label: n.name, detail: t("networkFree", { subnet: n.subnet, n: n.nodes.free }) }))}
      />
    </Field>
  );
}
