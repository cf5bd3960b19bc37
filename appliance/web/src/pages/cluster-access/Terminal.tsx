import type { Detail } from "@/api";
import { CopyField, Panel, Stack } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";

/** The same at the terminal, with kubehenge and with git. */
export function Terminal({ cluster }: { cluster: Detail }) {
  const t = useTexts("clusterAccess");
  const name = `${cluster.namespace}/${cluster.name}`;
  const file = `${cluster.name}.kubeconfig`;
  const lines = [
    { label: t("signIn"), value: `kubehenge login ${location.origin}` },
    { label: t("getKubeconfig"), value: `kubehenge kubeconfig ${name} --file ${file}\nkubectl --kubeconfig ${file} get nodes` },
    { label: t("look"), value: `kubehenge get clusters ${name}\nkubehenge scale ${name} 3\nkubehenge upgrade ${name} ${cluster.upgrades?.[0] ?? cluster.wantedVersion}` },
    { label: t("clone"), value: `git clone ${location.origin}/git/fleet.git\n$EDITOR fleet/${cluster.fileName ?? `${cluster.path}/claim.yaml`}` },
  ];
  return (
    <Panel title={t("terminal")}>
      <Stack tight>
        {lines.map((l) => (
          <Stack tight key={l.label}>
            <p className={cx(layout.soft, layout.small)}>{l.label}</p>
            <CopyField wrap value={l.value} label={l.label} />
          </Stack>
        ))}
      </Stack>
    </Panel>
  );
}
