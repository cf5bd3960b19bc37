import type { Answer } from "@/api";
import { useSaid, useTexts } from "@/i18n";
import { asSentence } from "../Failed/sentence";
import { useWords } from "../Time/Time";

/** Says why the person may not do something, as a sentence; undefined where they may, or it is not known. */
export function useRefusal(): (answer: Answer | undefined) => string | undefined {
  const t = useTexts("common");
  const said = useSaid();
  const say = useWords();
  return (answer) => {
    if (!answer || answer.ok) return undefined;
    const missing = answer.missing?.map((n) => t("privilegeOn", { privilege: n.privilege, path: n.path })) ?? [];
    if (missing.length > 0 && !answer.reason) return t("refused", { what: say.list(missing) });
    return asSentence(said(answer, "reason").text);
  };
}
