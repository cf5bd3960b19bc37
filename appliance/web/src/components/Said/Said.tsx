import type { ReactNode } from "react";
import { useLanguage, useSaid } from "@/i18n";
import type { Told } from "@/i18n/told";
import { asSentence } from "../Failed/sentence";

/** A sentence of the server's in the person's language. One that is known in English alone is marked as that, so that it is read aloud as English. */
export function Said<T extends Told>({ of, field, whole }: {
  of: T;
  field: keyof T & string;
  /** Begins large and ends with a stop. */
  whole?: boolean;
}) {
  const { text, lang } = useSaid()(of, field);
  const shown = whole ? asSentence(text) : text;
  return lang ? <span lang={lang}>{shown}</span> : <>{shown}</>;
}

/** What is in English in every language: what the agent, Kubernetes or Git wrote. */
export function English({ children }: { children: ReactNode }) {
  const { language } = useLanguage();
  return language === "en" ? <>{children}</> : <span lang="en">{children}</span>;
}
