import { type Need, useSession } from "@/api";
import { CopyField, Panel, Stack } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { aclCommands } from "./pveum";

/** What helps somebody who lacks a privilege: the commands that an administrator of Proxmox VE can run. */
export function AskForPrivileges({ missing }: { missing: readonly Need[] }) {
  const t = useTexts("notFound");
  const { user } = useSession();
  return (
    <Panel title={t("helps")}>
      <Stack tight>
        <p>{t("askToRun")}</p>
        <CopyField wrap value={aclCommands(user, missing).join("\n")} label={t("command")} />
        <p className={cx(layout.soft, layout.small)}>{t("orClick")}</p>
      </Stack>
    </Panel>
  );
}
