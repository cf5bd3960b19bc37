import { lazy, type ReactNode, Suspense } from "react";
import { useEver } from "../popup/ever";

export interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  children: ReactNode;
  /** The buttons; the filled one last. */
  footer: ReactNode;
  /** Makes the content a form, so that Enter presses the filled button. */
  onSubmit?: () => void;
}

// What draws a dialog is loaded with the first that opens.
const OpenDialog = lazy(async () => ({ default: (await import("./OpenDialog")).OpenDialog }));

/** A small question over the page. */
export function Dialog(props: DialogProps) {
  return <Suspense>{useEver(props.open) && <OpenDialog {...props} />}</Suspense>;
}
