import type { Answer } from "@/api";
import { useLanguage, useTexts } from "@/i18n";
import { asSentence } from "../Failed/sentence";
import { useWords } from "../Time/Time";

/**
 * Says why the person may not do something, as a sentence; undefined where they may, or it is not known. In English that is the server's sentence. In other
 * languages it is made of the privileges that are missing, which the server names; a reason of another kind stays as the server has it.
 */
export function useRefusal(): (answer: Answer | undefined) => string | undefined {
  const t = useTexts("common");
  const { language } = useLanguage();
  const say = useWords();
  return (answer) => {
    if (!answer || answer.ok) return undefined;
    const missing = answer.missing?.map((n) => t("privilegeOn", { privilege: n.privilege, path: n.path })) ?? [];
    if (missing.length > 0 && (language !== "en" || !answer.reason)) return t("refused", { what: say.list(missing) });
    return asSentence(answer.reason ?? "");
  };
}
