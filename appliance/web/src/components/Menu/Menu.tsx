import { cloneElement, type ComponentPropsWithRef, type KeyboardEvent, lazy, type ReactElement, type ReactNode, Suspense, useState } from "react";
import type { Answer } from "@/api";
import type { IconName } from "../Icon/Icon";

export interface MenuItem {
  key: string;
  label: string;
  icon?: IconName;
  /** Small at the right, such as the present value or a key. */
  detail?: ReactNode;
  to?: string;
  onSelect?: () => void;
  /** Why it cannot be chosen; it stays reachable and says so. */
  reason?: string;
  answer?: Answer;
  danger?: boolean;
  /** Chosen now, among several; draws a check. */
  checked?: boolean;
  /** Stays open, so that several things can be switched. */
  stays?: boolean;
  /** A line above it. */
  ruled?: boolean;
}

export interface MenuProps {
  /** The button that opens it. */
  trigger: ReactElement<ComponentPropsWithRef<"button">>;
  items: readonly MenuItem[];
  /** Words above the items. */
  head?: ReactNode;
  align?: "start" | "end";
}

// What draws an open menu is loaded when a pointer or the focus comes to its button, which most people's never do.
const load = () => import("./OpenMenu");
const OpenMenu = lazy(async () => ({ default: (await load()).OpenMenu }));
const warm = () => void load();

/** A list of actions that opens from a button. */
export function Menu(props: MenuProps) {
  const [opened, setOpened] = useState(false);
  const open = () => setOpened(true);
  const closed = cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: warm,
    onFocus: warm,
    onClick: open,
    onKeyDown: (event: KeyboardEvent) => (event.key === "ArrowDown" || event.key === "ArrowUp") && open(),
  });
  if (!opened) return closed;
  return (
    <Suspense fallback={closed}>
      <OpenMenu {...props} />
    </Suspense>
  );
}
