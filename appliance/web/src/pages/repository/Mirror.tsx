import type { Repository } from "@/api";
import { Facts, Panel, Reason, Time } from "@/components";
import { asSentence } from "@/components/Failed/Failed";
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
  return (
    <Panel title={t("mirror")}>
      <Facts
        facts={[
          [mirror.direction === "from" || mirror.direction === "pull" ? t("from") : t("to"), <span key="url" className={layout.mono}>{mirror.url}</span>],
          [t("state"), mirror.since === undefined ? mirror.state : t.rich("stateSince", { state: mirror.state, time: <Time at={mirror.since} /> })],
        ]}
      />
      {message !== undefined && message !== "" && <Reason mark={/fail|error/i.test(mirror.state) ? "error" : undefined}>{asSentence(message)}</Reason>}
    </Panel>
  );
}
