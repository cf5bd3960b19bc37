import { createContext, lazy, type ReactNode, Suspense, use, useCallback, useMemo, useState } from "react";

/** What a toast says. */
export interface Said {
  title: string;
  detail?: string;
}

const Say = createContext<(said: Said) => void>(() => {});

// It is loaded with the first toast, which comes after something was done.
const Toaster = lazy(async () => ({ default: (await import("./Toaster")).Toaster }));

/** Around the whole page. One toast at most, for five seconds; it stays under the pointer and the focus. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [last, setLast] = useState<Said>();
  const say = useCallback((said: Said) => setLast({ ...said }), []);
  return (
    <Say value={say}>
      {children}
      <Suspense>{last && <Toaster last={last} />}</Suspense>
    </Say>
  );
}

/**
 * Confirms what the person just did and cannot see elsewhere: done("Commit a41f09c is on main.", "The agent takes it up."). Errors stay where they
 * happened.
 */
export function useDone(): (title: string, detail?: string) => void {
  const say = use(Say);
  return useMemo(() => (title: string, detail?: string) => say({ title, detail }), [say]);
}
