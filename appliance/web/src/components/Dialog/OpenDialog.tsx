import { Dialog as Base } from "@base-ui/react/dialog";
import type { FormEvent } from "react";
import type { DialogProps } from "./Dialog";
import css from "./Dialog.module.css";

/** The dialog once it has been opened. */
export function OpenDialog({ open, onOpenChange, title, children, footer, onSubmit }: DialogProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };
  const inside = (
    <>
      <div className={css.body}>{children}</div>
      <div className={css.foot}>{footer}</div>
    </>
  );
  return (
    <Base.Root open={open} onOpenChange={(now) => onOpenChange(now)}>
      <Base.Portal>
        <Base.Backdrop className={css.backdrop} />
        <Base.Popup className={css.dialog}>
          <div className={css.head}>
            <Base.Title>{title}</Base.Title>
          </div>
          {onSubmit ? <form onSubmit={submit}>{inside}</form> : inside}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
