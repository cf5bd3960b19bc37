import type { Agent, Change, Repository } from "@/api";
import { Panel, Tag, Track, type TrackEntry } from "@/components";
import { useTexts } from "@/i18n";
import { commitAddress } from "@/shell/addresses";

const dots: Record<NonNullable<Change["state"]>, TrackEntry["state"]> = { applied: "on", waiting: "busy", refused: "off" };

/** The branch's newest commits, and where branch and agent stand. */
export function History({ repository, agent, changes }: { repository: Repository; agent: Agent; changes: readonly Change[] }) {
  const t = useTexts("repository");
  const words: Record<NonNullable<Change["state"]>, string> = { applied: t("applied"), waiting: t("waits"), refused: t("refusedState") };
  return (
    <Panel flush title={t("history", { branch: repository.branch })} aside={t("protected")}>
      <Track
        label={t("history", { branch: repository.branch })}
        entries={changes.map((c) => {
          const isTip = c.commit === repository.tip?.commit;
          const isAgent = c.commit === agent.commit;
          return {
            commit: c.commit,
            title: c.subject,
            to: commitAddress(c.commit),
            state: c.state ? dots[c.state] : "off",
            pins: (
              <>
                {isTip && <Tag tone="busy">{repository.branch}</Tag>}
                {isAgent && <Tag tone="busy">{t("agent")}</Tag>}
                {!isTip && !isAgent && c.state && words[c.state]}
              </>
            ),
          };
        })}
      />
    </Panel>
  );
}
