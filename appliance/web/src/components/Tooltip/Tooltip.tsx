import { cloneElement, type ComponentPropsWithRef, type FocusEvent, lazy, type ReactElement, Suspense, useEffect, useRef, useState } from "react";
import { useEver } from "../popup/ever";

// The words are drawn by what is loaded when the first tooltip opens.
const Tip = lazy(async () => ({ default: (await import("./Tip")).Tip }));

/** How long the pointer rests before the words come, and how long it may be away before they go, in milliseconds. */
const [rest, leave] = [300, 120];

/** Words beside a control while it has the pointer or the focus. They only repeat what is told otherwise too. */
export function Tooltip({ text, children }: { text: string; children: ReactElement<ComponentPropsWithRef<"button">> }) {
  const anchor = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const turn = (now: boolean, after: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(now), after);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const control = cloneElement(children, {
    ref: anchor,
    onPointerEnter: () => turn(true, rest),
    onPointerLeave: () => turn(false, leave),
    onFocus: (event: FocusEvent<HTMLElement>) => event.currentTarget.matches(":focus-visible") && turn(true, 0),
    onBlur: () => turn(false, 0),
  });
  return (
    <>
      {control}
      <Suspense>{useEver(open) && <Tip text={text} anchor={anchor} open={open} onOpenChange={setOpen} onHover={(over) => turn(over, over ? 0 : leave)} />}</Suspense>
    </>
  );
}
