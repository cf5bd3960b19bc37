import type { MirrorState, Repository } from "@/api";
import { English, Facts, Panel, Reason, Stack, Time } from "@/components";
import { asSentence } from "@/components/Failed/sentence";
import { useTexts } from "@/i18n";
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

/** Where the repository is mirrored to or from, and how that stands: in a sentence of the page, and in the mirror's own with its numbers. */
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
          {t(word.means)} {message !== undefined && message !== "" && <English>{asSentence(message)}</English>}
        </Reason>
      </Stack>
    </Panel>
  );
}
