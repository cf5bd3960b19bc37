import type { ReactNode } from "react";
import { isApiError } from "@/api";
import { useSaid, useTexts } from "@/i18n";
import { Banner } from "../Banner/Banner";
import { Button } from "../Button/Button";
import css from "./Failed.module.css";
import { asSentence } from "./sentence";

/**
 * An error of the API where it happened, in the server's words: what was refused and what is missing, what is wrong in which line, or who changed what
 * meanwhile. It stays until it is solved. retry asks again.
 */
export function Failed({ error, retry, actions }: { error: unknown; retry?: () => void; actions?: ReactNode }) {
  const t = useTexts("common");
  const { sentence, lang, denied } = useFailure(error);
  const again = retry && <Button icon="refresh" onClick={retry}>{t("tryAgain")}</Button>;
  const buttons = actions || again ? <>{actions}{again}</> : undefined;
  return (
    <Banner tone={denied ? "wait" : "error"} icon={denied ? "lock" : "alert"} actions={buttons} help={<Details error={error} />}>
      <span lang={lang}>{sentence}</span>
    </Banner>
  );
}

/** The sentence of an error, with a capital letter and a full stop, and whether it is a refusal. lang is set where the sentence is in another language. */
export function useFailure(error: unknown): { sentence: string; lang?: string; denied: boolean } {
  const t = useTexts("common");
  const said = useSaid();
  if (!isApiError(error)) return { sentence: t("failedHere"), denied: false };
  if (error.status === 0) return { sentence: t("notReached"), denied: false };
  const { text, lang } = said(error.body, "error");
  return { sentence: asSentence(text), lang, denied: error.status === 403 && Boolean(error.body.missing?.length) };
}

function Details({ error }: { error: unknown }) {
  const t = useTexts("common");
  const said = useSaid();
  const { sentence } = useFailure(error);
  if (!isApiError(error)) return null;
  const { missing, problems, conflicts } = error.body;
  const lines = [
    ...(missing?.filter((n) => !sentence.includes(t("privilegeOn", { privilege: n.privilege, path: n.path }))).map((n) => t("needs", { what: asSentence(n.why).replace(/\.$/, ""), privilege: n.privilege, path: n.path })) ?? []),
    ...(problems?.map((p) => `${p.path}${p.line ? `:${p.line}` : ""}: ${p.field ? `${p.field}: ` : ""}${said(p, "message").text}`) ?? []),
    ...(conflicts?.map((c) => t("conflict", { by: c.by ?? t("somebody"), field: c.field, theirs: shown(c.theirs), yours: shown(c.yours) })) ?? []),
  ];
  if (lines.length === 0) return null;
  return (
    <span className={css.lines}>
      {lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </span>
  );
}

function shown(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
