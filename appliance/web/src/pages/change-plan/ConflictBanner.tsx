import type { Conflict } from "@/api";
import { Banner, Button, Panel, Stack } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { type Keep, shown } from "../conflict";

/** Who changed what meanwhile, with both versions; one of them is chosen a field. */
export function ConflictBanner({ conflicts, onKeep }: { conflicts: readonly Conflict[]; onKeep: (conflict: Conflict, keep: Keep) => void }) {
  const t = useTexts("changePlan");
  const value = (v: unknown) => shown(v) ?? t("notSet");
  const sentence = useConflictSentence();
  return (
    <Panel>
      <Stack>
        <Banner tone="wait" icon="alert" help={t("conflictQuestion")}>
          {t("conflictTitle")}
        </Banner>
        {conflicts.map((c) => (
          <Stack tight key={c.field}>
            <p>{sentence(c)}</p>
            <div className={layout.row}>
              <Button onClick={() => onKeep(c, "yours")}>{t("keepYours", { value: value(c.yours) })}</Button>
              <Button onClick={() => onKeep(c, "theirs")}>{t("keepTheirs", { value: value(c.theirs) })}</Button>
            </div>
          </Stack>
        ))}
      </Stack>
    </Panel>
  );
}

function useConflictSentence(): (conflict: Conflict) => string {
  const t = useTexts("changePlan");
  return (c) => {
    const said = { by: c.by === undefined || c.by === "" ? t("somebody") : c.by, theirs: shown(c.theirs) ?? t("notSet"), yours: shown(c.yours) ?? t("notSet") };
    if (c.field === "spec.controlPlane.replicas") {
      return t("conflictControlPlane", said);
    }
    if (/^spec\.(workers|pools\[\d+\])\.replicas$/.test(c.field)) {
      return t("conflictWorkers", said);
    }
    return c.field === "spec.version" ? t("conflictVersion", said) : t("conflictField", { ...said, field: c.field });
  };
}
