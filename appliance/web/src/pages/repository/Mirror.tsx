import type { MirrorState, Repository } from "@/api";
import { English, Facts, Panel, Reason, Stack, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useLanguage, useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";

/** What the state of a mirror is called, and what it means for the two repositories. */
const words = {
  unknown: { state: "unknownMirror", means: "unknownMirrorMeans" },
  "in-step": { state: "inStepMirror", means: "inStepMirrorMeans" },
  behind: { state: "behindMirror", means: "behindMirrorMeans" },
  diverged: { state: "divergedMirror", means: "divergedMirrorMeans" },
  refused: { state: "refusedMirror", means: "refusedMirrorMeans" },
  failed: { state: "failedMirror", means: "failedMirrorMeans" },
} as const satisfies Record<MirrorState, unknown>;

/** What a person has to do something about. */
const bad: readonly MirrorState[] = ["failed", "diverged", "refused"];

/** Where the repository is mirrored to or from, and how that stands: in the mirror's own sentence with its numbers, which is in English, and in other languages in one of the page before it. */
export function Mirror({ mirror }: { mirror: Repository["mirror"] }) {
  const t = useTexts("repository");
  const { language } = useLanguage();
  if (mirror === undefined) {
    return (
      <Panel title={t("mirror")}>
        <p className={layout.soft}>{t("noMirror")}</p>
      </Panel>
    );
  }
  const { message } = mirror;
  const word = words[mirror.state];
  return (
    <Panel title={t("mirror")}>
      <Stack tight>
        <Facts
          facts={[
            [{ to: t("to"), from: t("from"), both: t("both") }[mirror.direction], <span key="url" className={layout.mono}>{mirror.url}</span>],
            [t("state"), mirror.since === undefined ? t(word.state) : t.rich("stateSince", { state: t(word.state), time: <Time at={mirror.since} /> })],
          ]}
        />
        <Reason mark={bad.includes(mirror.state) ? "error" : undefined}>
          {(language !== "en" || !message) && t(word.means)} {message && <English>{asSentence(message)}</English>}
        </Reason>
      </Stack>
    </Panel>
  );
}
