import { Dialog as Base } from "@base-ui/react/dialog";
import type { FormEvent, ReactNode } from "react";
import css from "./Dialog.module.css";

/** A small question over the page. onSubmit makes its content a form, so that Enter presses the filled button. */
export function Dialog({ open, onOpenChange, title, children, footer, onSubmit }: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  children: ReactNode;
  /** The buttons; the filled one last. */
  footer: ReactNode;
  onSubmit?: () => void;
}) {
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
