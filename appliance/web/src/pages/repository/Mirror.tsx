import type { Repository } from "@/api";
import { Facts, Panel, Reason, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";

/** Where the repository is mirrored to or from, and how that stands. */
export function Mirror({ mirror }: { mirror: Repository["mirror"] }) {
  const t = useTexts("repository");
  if (mirror === undefined) {
    return (
      <Panel title={t("mirror")}>
        <p className={layout.soft}>{t("noMirror")}</p>
      </Panel>
    );
  }
  const { message } = mirror;
  const words = { "in-step": t("inStepMirror"), behind: t("behindMirror"), failed: t("failedMirror"), diverged: t("divergedMirror") };
  return (
    <Panel title={t("mirror")}>
      <Facts
        facts={[
          [{ to: t("to"), from: t("from"), both: t("both") }[mirror.direction], <span key="url" className={layout.mono}>{mirror.url}</span>],
          [t("state"), mirror.since === undefined ? words[mirror.state] : t.rich("stateSince", { state: words[mirror.state], time: <Time at={mirror.since} /> })],
        ]}
      />
      {message !== undefined && message !== "" && <Reason mark={mirror.state === "failed" || mirror.state === "diverged" ? "error" : undefined}>{asSentence(message)}</Reason>}
    </Panel>
  );
}
