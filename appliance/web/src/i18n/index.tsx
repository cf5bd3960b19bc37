import { createContext, Fragment, type ReactNode, use, useCallback, useMemo, useState } from "react";
import type en from "./en";
import { type ParamsOf, pieces, type Section, sentenceOf } from "./texts";
import { saidIn, type Told } from "./told";

export type Texts = typeof en;
export type SectionName = keyof Texts;
export type Language = "en" | "de";

/** The languages, each in its own words. */
export const languages: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

type Params<M, V> = [ParamsOf<M>] extends [never] ? [] : [params: { [P in ParamsOf<M>]: V }];

/** Says a text of one section; rich takes elements as parameters and gives elements back. */
export interface Say<S extends Section> {
  <K extends keyof S & string>(key: K, ...params: Params<S[K], string | number>): string;
  rich<K extends keyof S & string>(key: K, ...params: Params<S[K], ReactNode>): ReactNode;
  /** The text of a key that is only known as the page runs, such as a phase; undefined when there is none. */
  maybe(key: string): string | undefined;
}

/** The texts of a language. The server's own sentences are in every language but English, in which it sends them. */
type Loaded = Record<SectionName, Section> & { server?: Section };

interface Speech {
  language: Language;
  texts: Loaded;
  speak(language: Language): Promise<void>;
}

const Current = createContext<Speech | undefined>(undefined);

const loaders: Record<Language, () => Promise<{ default: Loaded }>> = {
  en: () => import("./en"),
  de: () => import("./de"),
};

const kept = "kubehenge.language";

/** The language that the person chose here before, or the first of the browser's that there is. */
export function preferred(chosen: string | null, browser: readonly string[]): Language {
  const known = (tag: string | null): tag is Language => tag !== null && Object.hasOwn(languages, tag);
  if (known(chosen)) return chosen;
  return browser.map((tag) => tag.slice(0, 2).toLowerCase()).find(known) ?? "en";
}

/** Loads the texts before the first page is drawn. */
export async function loadLanguage(language = preferred(localStorage.getItem(kept), navigator.languages)) {
  document.documentElement.lang = language;
  return { language, texts: (await loaders[language]()).default };
}

export function LanguageProvider({ first, children }: { first: Awaited<ReturnType<typeof loadLanguage>>; children: ReactNode }) {
  const [loaded, setLoaded] = useState(first);
  const speak = useCallback(async (language: Language) => {
    localStorage.setItem(kept, language);
    setLoaded(await loadLanguage(language));
  }, []);
  const speech = useMemo(() => ({ ...loaded, speak }), [loaded, speak]);
  return <Current value={speech}>{children}</Current>;
}

function useSpeech(): Speech {
  const speech = use(Current);
  if (!speech) throw new Error("There is no LanguageProvider above.");
  return speech;
}

export function useLanguage() {
  const { language, speak } = useSpeech();
  return { language, speak };
}

/** The texts of a section: const t = useTexts("clusters"); t("count", { n: 3 }). */
export function useTexts<N extends SectionName>(name: N): Say<Texts[N]> {
  const { language, texts } = useSpeech();
  return useMemo(() => sayer(texts[name], language) as unknown as Say<Texts[N]>, [texts, language, name]);
}

/** Says a sentence that the server has in a field of something. lang is set where it is in English and the page is not. */
export type Saying = <T extends Told>(of: T, field: keyof T & string) => { text: string; lang?: "en" };

/** The server's sentences in the person's language: const said = useSaid(); said(plan.fit, "message").text. */
export function useSaid(): Saying {
  const { language, texts } = useSpeech();
  return useCallback(
    (of, field) => {
      const english = String(of[field] ?? "");
      const sentence = of.told?.[field];
      const text = sentence && texts.server && saidIn(texts.server, language, sentence);
      if (text !== undefined) return { text };
      return language === "en" || english === "" ? { text: english } : { text: english, lang: "en" };
    },
    [language, texts],
  );
}

/** The function that says a section's texts in a language. */
export function sayer(section: Section, language: string) {
  const find = (key: string, n: unknown) => sentenceOf(section[key] ?? key, language, n);
  const say = (key: string, params: Record<string, string | number> = {}) =>
    pieces(find(key, params.n))
      .map((piece) => ("text" in piece ? piece.text : String(params[piece.param])))
      .join("");
  const rich = (key: string, params: Record<string, ReactNode> = {}): ReactNode =>
    pieces(find(key, params.n)).map((piece, i) => <Fragment key={i}>{"text" in piece ? piece.text : params[piece.param]}</Fragment>);
  const maybe = (key: string) => (Object.hasOwn(section, key) ? say(key) : undefined);
  return Object.assign(say, { rich, maybe });
}
