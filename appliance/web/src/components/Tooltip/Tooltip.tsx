import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";
import css from "./Tooltip.module.css";

/** Words beside a control while it has the pointer or the focus. They only repeat what is told otherwise too. */
export function Tooltip({ text, children }: { text: string; children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={300} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className={css.place}>
          <Base.Popup className={css.tip}>{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
