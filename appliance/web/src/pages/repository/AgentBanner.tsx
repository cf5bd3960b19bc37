import type { ReactNode } from "react";
import type { Agent, Stale } from "@/api";
import { Banner, English, Sha, Span, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useTexts } from "@/i18n";
import { commitAddress } from "@/shell/addresses";

/** How far the agent is behind the branch, in one sentence. */
export function AgentBanner({ agent, branch, lastFetch, stale }: { agent: Agent; branch: string; lastFetch?: string; stale?: Stale }) {
  const t = useTexts("repository");
  const fetched = lastFetch === undefined ? null : t.rich("fetched", { span: <Span since={lastFetch} /> });
  const { commit } = agent;
  if (commit === undefined || commit === "") {
    return (
      <Banner tone="gone" mark="stale" help={agent.message && <English>{asSentence(agent.message)}</English>}>
        {t("notKnown")}
      </Banner>
    );
  }
  const sha: ReactNode = <Sha commit={commit} to={commitAddress(commit)} />;
  if (stale !== undefined) {
    return (
      <Banner tone="gone" mark="stale">
        {t.rich("agentWas", { commit: sha, time: <Time at={stale.since} form="clock" /> })}
      </Banner>
    );
  }
  if ((agent.behind ?? 0) === 0) {
    return (
      <Banner tone="ok" mark="running" help={fetched}>
        {t.rich("inStep", { branch, commit: sha })}
      </Banner>
    );
  }
  return (
    <Banner tone="busy" mark="progress" help={agent.message === undefined || agent.message === "" ? t.rich("agentAt", { commit: sha }) : <English>{asSentence(agent.message)}</English>}>
      {t("behind", { n: agent.behind ?? 0, branch })}
    </Banner>
  );
}
