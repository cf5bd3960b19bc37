import { describe, expect, it, test } from "vitest";
import { bytes, clock, list, logTime, moment, parseTime, quantity, span, tick } from "./words";

const [s, min, h] = [1000, 60_000, 3_600_000];

test.each([
  [-5 * s, "0 s"],
  [31 * s, "31 s"],
  [72 * s, "1 min 12 s"],
  [120 * s, "2 min"],
  [13 * min + 40 * s, "13 min"],
  [2 * h, "2 h"],
  [2 * h + 45 * min, "2 h 45 min"],
  [71 * 24 * h, "71 days"],
])("%d ms is %s", (ms, want) => expect(span(ms, "en")).toBe(want));

test("days in German", () => expect(span(3 * 24 * h, "de")).toBe("3 Tage"));
test("a span that is minutes long changes once a minute", () => expect([tick(5 * s), tick(11 * min)]).toEqual([s, min]));

describe("a moment", () => {
  const now = new Date(2026, 10, 30, 15, 0);
  it("is a clock time within a day", () => expect(moment(new Date(2026, 10, 30, 11, 46), now, "en")).toBe("11:46"));
  it("is one in the night before too", () => expect(moment(new Date(2026, 10, 29, 23, 5), now, "en")).toBe("23:05"));
  it("is a date before that", () => expect(moment(new Date(2026, 9, 19, 11, 46), now, "de")).toBe("19. Oktober"));
  it("has its year in another year", () => expect(moment(new Date(2025, 9, 19), now, "de")).toBe("19. Oktober 2025"));
  it("has seconds in a list", () => expect(logTime(new Date(2026, 10, 30, 11, 46, 55), now, "en")).toBe("11:46:55"));
  it("has its day in a list that reaches back", () => expect(logTime(new Date(2026, 10, 1, 9, 5), now, "de")).toBe("1. Nov. 09:05"));
  it("is on the clock of 24 hours", () => expect(clock(new Date(2026, 0, 1, 0, 7), "en")).toBe("00:07"));
});

test.each([
  ["RFC 3339", "2026-11-30T15:00:00Z", "2026-11-30T15:00:00.000Z"],
  ["seconds of Proxmox VE", 1796050800, "2026-11-30T15:00:00.000Z"],
  ["the zero time of Go", "0001-01-01T00:00:00Z", undefined],
  ["none", undefined, undefined],
  ["something else", "soon", undefined],
])("a time from %s", (_, at, want) => expect(parseTime(at)?.toISOString()).toBe(want));

test.each([
  [0, "0 B"],
  [512 * 2 ** 20, "512 MB"],
  [102 * 2 ** 30, "102 GB"],
  [1000 * 2 ** 30, "1 TB"],
  [1.5 * 2 ** 30, "1.5 GB"],
  [2.1 * 2 ** 40, "2.1 TB"],
])("%d bytes are %s", (n, want) => expect(bytes(n, "en")).toBe(want));

test.each([
  ["4Gi", 4 * 2 ** 30],
  ["512Mi", 512 * 2 ** 20],
  ["1.5G", 1.5e9],
  ["12", 12],
  ["much", undefined],
  [undefined, undefined],
])("the quantity %s", (text, want) => expect(quantity(text)).toBe(want));

test("names in a row", () => expect(list(["pve1", "pve2", "pve3"], "en")).toBe("pve1, pve2 and pve3"));
