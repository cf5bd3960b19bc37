import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from "react";

/** Up to this many rows everything is drawn. */
const most = 200;

/** Rows that are drawn beyond the edges, so that scrolling shows no gap. */
const beyond = 15;

/** Which rows are drawn, and the room in pixels of those above and below. */
export interface Drawn {
  from: number;
  to: number;
  above: number;
  below: number;
  scrollTo: (row: number) => void;
}

/** Which rows of a long table are in sight. The height of a row is measured from those that are drawn. */
export function useWindow(body: RefObject<HTMLElement | null>, count: number): Drawn {
  const long = count > most;
  const [range, setRange] = useState({ from: 0, to: 60 });
  const [height, setHeight] = useState(31);

  const look = useCallback(() => {
    const scroller = body.current?.closest<HTMLElement>("[data-scroll]");
    if (!body.current || !scroller) return;
    const top = scroller.getBoundingClientRect().top - body.current.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(top / height) - beyond);
    const to = Math.ceil((top + scroller.clientHeight) / height) + beyond;
    setRange((old) => (old.from === from && old.to === to ? old : { from, to }));
  }, [body, height]);

  useLayoutEffect(() => {
    const rows = body.current?.querySelectorAll<HTMLElement>("tr[data-row]");
    if (!long || !rows?.length) return;
    const first = rows[0]!.getBoundingClientRect();
    const last = rows[rows.length - 1]!.getBoundingClientRect();
    const measured = (last.bottom - first.top) / rows.length;
    if (measured > 0 && Math.abs(measured - height) > 0.5) setHeight(measured);
  });

  useEffect(() => {
    const scroller = body.current?.closest<HTMLElement>("[data-scroll]");
    if (!long || !scroller) return;
    look();
    scroller.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [body, long, look, count]);

  const scrollTo = useCallback(
    (row: number) => {
      const scroller = body.current?.closest<HTMLElement>("[data-scroll]");
      if (!scroller || !body.current) return;
      const above = body.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
      scroller.scrollTop += above + row * height - scroller.clientHeight / 2;
    },
    [body, height],
  );

  if (!long) return { from: 0, to: count, above: 0, below: 0, scrollTo };
  const from = Math.min(range.from, Math.max(0, count - 1));
  const to = Math.min(count, Math.max(range.to, from + 1));
  return { from, to, above: from * height, below: (count - to) * height, scrollTo };
}
