import { useEffect, useSyncExternalStore } from "react";

/** When what a page may want soon is loaded without being asked for, in milliseconds after it stands. */
const soon = 2000;

/**
 * A module that a page can do without at first. warm loads it, once; use is the module once it is there, draws anew when it comes, and has it come soon in any
 * case.
 */
export function later<M>(load: () => Promise<M>): { warm: () => void; use: () => M | undefined } {
  let module: M | undefined;
  let asked = false;
  const waiting = new Set<() => void>();
  const warm = () => {
    if (asked) return;
    asked = true;
    load().then(
      (loaded) => {
        module = loaded;
        for (const draw of waiting) draw();
      },
      () => (asked = false), // the next one who wants it tries again
    );
  };
  const subscribe = (draw: () => void) => {
    waiting.add(draw);
    return () => waiting.delete(draw);
  };
  const use = () => {
    useEffect(() => {
      const timer = setTimeout(warm, soon);
      return () => clearTimeout(timer);
    }, []);
    return useSyncExternalStore(subscribe, () => module);
  };
  return { warm, use };
}
