import { CopyField, Panel, Stack } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { aclCommands } from "../not-found/pveum";

/** How the cluster is shared with others: with the roles of Proxmox VE, on its pool. */
export function ShareIt({ pool }: { pool: string }) {
  const t = useTexts("clusterAccess");
  const give = (privilege: string) => aclCommands(t("someone"), [{ privilege, path: pool }]).join("\n");
  return (
    <Panel title={t("share")}>
      <Stack tight>
        <p>{t("shareText")}</p>
        <p className={cx(layout.soft, layout.small)}>{t("shareLook")}</p>
        <CopyField wrap value={give("VM.Audit")} label={t("shareLook")} />
        <p className={cx(layout.soft, layout.small)}>{t("shareChange")}</p>
        <CopyField wrap value={give("VM.Allocate")} label={t("shareChange")} />
      </Stack>
    </Panel>
  );
}
