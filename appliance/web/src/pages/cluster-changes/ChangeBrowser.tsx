import { useEffect, useRef } from "react";
import type { Change } from "@/api";
import { Button, CommitList, Empty, Panel, Tag, Time } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { ChangeDetail } from "./ChangeDetail";
import css from "./ChangeBrowser.module.css";

/** Commits on one side, the chosen one on the other. The address holds which one is chosen. */
export function ChangeBrowser({ changes, more, chosen, address, onOlder, loadingOlder }: {
  changes: readonly Change[];
  /** There are older ones. */
  more: boolean;
  /** The chosen commit; the newest where none is. */
  chosen: string | undefined;
  address: (commit: string) => string;
  onOlder: () => void;
  loadingOlder: boolean;
}) {
  const t = useTexts("clusterChanges");
  const commit = chosen ?? changes[0]?.commit;
  const detail = useBelow(chosen);
  if (commit === undefined) {
    return <Empty title={t("none")} />;
  }
  return (
    <div className={cx(layout.cols, layout.colsList)}>
      <Panel flush title={t("commits")} aside={more ? t("moreThan", { n: changes.length }) : t("newestFirst", { n: changes.length })}>
        <CommitList
          label={t("commits")}
          entries={changes.map((c) => ({
            commit: c.commit,
            title: c.subject,
            badge: <StateTag change={c} />,
            by: c.user ?? c.author,
            when: <Time at={c.time} />,
            to: address(c.commit),
            current: c.commit === commit,
          }))}
        />
        {more && (
          <p className={css.older}>
            <Button variant="quiet" small busy={loadingOlder} onClick={onOlder}>
              {t("older")}
            </Button>
          </p>
        )}
      </Panel>
      <div ref={detail} className={css.detail}>
        <ChangeDetail key={commit} commit={commit} />
      </div>
    </div>
  );
}

/** Where there is no room beside the list, what was chosen is below it; it is brought into sight. */
function useBelow(chosen: string | undefined) {
  const detail = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen !== undefined && matchMedia("(max-width: 1100px)").matches) {
      detail.current?.scrollIntoView({ block: "start" });
    }
  }, [chosen]);
  return detail;
}

function StateTag({ change }: { change: Change }) {
  const t = useTexts("clusterChanges");
  if (change.state === undefined || change.state === "applied") {
    return null;
  }
  return change.state === "waiting" ? <Tag tone="busy">{t("waiting")}</Tag> : <Tag tone="wait">{t("refused")}</Tag>;
}
