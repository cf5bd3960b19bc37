import { useEffect, useMemo, useState } from "react";
import { useLanguage } from "@/i18n";
import * as words from "./words";

/** A point in time, with the whole date in its title. log is for lists: with seconds today, with the date before. */
export function Time({ at, form = "moment" }: { at: string | number | undefined; form?: "moment" | "log" | "clock" | "full" }) {
  const { language } = useLanguage();
  const time = words.parseTime(at);
  if (!time) return null;
  const now = new Date();
  const text = {
    moment: () => words.moment(time, now, language),
    log: () => words.logTime(time, now, language),
    clock: () => words.clock(time, language),
    full: () => words.full(time, language),
  }[form]();
  return (
    <time dateTime={time.toISOString()} title={words.full(time, language)}>
      {text}
    </time>
  );
}

/** How long something took, or has taken since; it runs by itself while until is left out. Screen readers do not hear it tick. */
export function Span({ since, until }: { since: string | number | undefined; until?: string | number }) {
  const { language } = useLanguage();
  const [from, to] = [words.parseTime(since), words.parseTime(until)];
  const ms = useElapsed(from?.getTime(), to?.getTime());
  return ms === undefined ? null : <span aria-live="off">{words.span(ms, language)}</span>;
}

/** The milliseconds since a time, running; until another where it is given. */
export function useElapsed(from: number | undefined, to?: number): number | undefined {
  const [now, setNow] = useState(Date.now);
  const ms = from === undefined ? undefined : (to ?? Math.max(now, from)) - from;
  const every = from === undefined || to !== undefined ? undefined : words.tick(now - from);
  useEffect(() => {
    if (every === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return ms;
}

/** Numbers, sizes and times in the person's language: const say = useWords(); say.bytes(n). */
export function useWords() {
  const { language } = useLanguage();
  return useMemo(
    () => ({
      bytes: (n: number) => words.bytes(n, language),
      number: (n: number) => words.number(n, language),
      list: (names: readonly string[]) => words.list(names, language),
      span: (ms: number) => words.span(ms, language),
      moment: (at: string | number | undefined, now = new Date()) => {
        const time = words.parseTime(at);
        return time ? words.moment(time, now, language) : "";
      },
      quantity: words.quantity,
    }),
    [language],
  );
}
