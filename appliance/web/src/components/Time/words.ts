/** Numbers, sizes and times in words. Everything takes the language, and times take now, so that they can be tried out. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long something takes, exactly enough: "31 s", "1 min 12 s", "2 h 45 min", "3 days". Below a second it is 0 s. */
export function span(ms: number, language: string): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const [h, min] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  if (s < 60) return `${s} s`;
  if (s < 600) return s % 60 === 0 ? `${min} min` : `${min} min ${s % 60} s`;
  if (h < 1) return `${min} min`;
  if (h < 48) return min === 0 ? `${h} h` : `${h} h ${min} min`;
  return new Intl.NumberFormat(language, { style: "unit", unit: "day", unitDisplay: "long" }).format(Math.floor(h / 24));
}

/** How often a span's words change, in milliseconds: each second below ten minutes, then each minute. */
export function tick(ms: number): number {
  return ms < 600_000 ? 1000 : minute;
}

/** Where English is written with the day before the month and 24 hours, as Proxmox VE does. */
function written(language: string): string {
  return language === "en" ? "en-GB" : language;
}

/** A point in time as people say it: the clock time of the last day, the day and clock time of the week before, else the date. */
export function moment(at: Date, now: Date, language: string): string {
  const age = now.getTime() - at.getTime();
  if (age < day && age > -day) return clock(at, language);
  if (at.getFullYear() === now.getFullYear()) return new Intl.DateTimeFormat(written(language), { day: "numeric", month: "long" }).format(at);
  return new Intl.DateTimeFormat(written(language), { day: "numeric", month: "long", year: "numeric" }).format(at);
}

/** The clock time, with seconds where a list is ordered by it. */
export function clock(at: Date, language: string, seconds?: boolean): string {
  return new Intl.DateTimeFormat(written(language), { hour: "2-digit", minute: "2-digit", second: seconds ? "2-digit" : undefined }).format(at);
}

/** The whole date and time, for a title or a log that reaches far back. */
export function full(at: Date, language: string): string {
  return new Intl.DateTimeFormat(written(language), { dateStyle: "long", timeStyle: "medium" }).format(at);
}

/** For lists: the clock time with seconds today, else the short date and the clock time. */
export function logTime(at: Date, now: Date, language: string): string {
  if (now.getTime() - at.getTime() < day) return clock(at, language, true);
  const date = new Intl.DateTimeFormat(written(language), { day: "numeric", month: "short" }).format(at);
  return `${date} ${clock(at, language)}`;
}

/** A time of the API, or of Proxmox VE in seconds since 1970; undefined for none, and for the zero time of Go. */
export function parseTime(at: string | number | undefined): Date | undefined {
  if (at === undefined || at === "" || at === 0) return undefined;
  const time = new Date(typeof at === "number" ? at * 1000 : at);
  return Number.isNaN(time.getTime()) || time.getFullYear() < 1971 ? undefined : time;
}

const units = ["B", "KB", "MB", "GB", "TB", "PB"];

/** Memory and disks: powers of 1024 under the names people use, with one digit after the point below ten. "2.1 TB", "102 GB". */
export function bytes(n: number, language: string): string {
  let [value, unit] = [Math.max(0, n), 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = value < 10 && unit > 2 ? 1 : 0;
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value)} ${units[unit]}`;
}

const suffixes: Readonly<Record<string, number>> = { "": 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** The bytes of a Kubernetes quantity such as 4Gi; undefined when it is none. */
export function quantity(text: string | undefined): number | undefined {
  const m = /^(\d+(?:\.\d+)?)([KMGT]i|[kMGT])?$/.exec(text ?? "");
  return m ? Number(m[1]) * suffixes[m[2] ?? ""]! : undefined;
}

export function number(n: number, language: string): string {
  return new Intl.NumberFormat(language).format(n);
}

/** Names in a row: "pve1, pve2 and pve3". */
export function list(names: readonly string[], language: string): string {
  return new Intl.ListFormat(language === "en" ? "en-GB" : language, { type: "conjunction" }).format(names);
}
