import type { Repository } from "@/api";
import { Code, Panel, Time } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { inTwo } from "./lines";

type Refusal = NonNullable<Repository["refused"]>[number];

/** The pushes that were refused, newest first, with what their terminals said. */
export function RefusedPushes({ refused }: { refused: readonly Refusal[] }) {
  const t = useTexts("repository");
  if (refused.length === 0) {
    return (
      <Panel title={t("refused")}>
        <p className={layout.soft}>{t("refusedNone")}</p>
      </Panel>
    );
  }
  return refused.toSorted((a, b) => b.time.localeCompare(a.time)).slice(0, most).map((r, i) => (
    <Panel key={i} flush title={i === 0 ? t("refusedLast") : t("refusedBefore")} aside={t.rich("refusedBy", { user: r.user, time: <Time at={r.time} /> })}>
      <div lang="en">
        <Code plain text={inTwo(r.message)} label={t("terminalSaid")} />
      </div>
    </Panel>
  ));
}

/** How many refusals are shown; the audit log has the others. */
const most = 3;
