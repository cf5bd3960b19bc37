import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { RefObject } from "react";
import css from "./Tooltip.module.css";

interface TipProps {
  text: string;
  anchor: RefObject<HTMLElement | null>;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The pointer has come to the words, or left them. */
  onHover: (over: boolean) => void;
}

/** The words of a tooltip, beside what they belong to. */
export function Tip({ text, anchor, open, onOpenChange, onHover }: TipProps) {
  return (
    <Base.Root open={open} onOpenChange={(now) => onOpenChange(now)}>
      <Base.Portal>
        <Base.Positioner anchor={anchor} sideOffset={6} className={css.place} onPointerEnter={() => onHover(true)} onPointerLeave={() => onHover(false)}>
          <Base.Popup className={css.tip}>{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
