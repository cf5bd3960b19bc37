import type { ComponentPropsWithRef } from "react";
import { cx } from "@/styles/classes";
import { useField } from "./Field";
import css from "./Input.module.css";

/** A line of text. mono is for names, paths and addresses; code for the digits of a second factor. */
export function Input({ mono, code, className, ...props }: ComponentPropsWithRef<"input"> & { mono?: boolean; code?: boolean }) {
  const field = useField();
  return (
    <input
      id={field.id}
      aria-describedby={field.describedBy}
      aria-invalid={field.invalid || undefined}
      autoComplete="off"
      spellCheck={false}
      {...props}
      className={cx(css.input, mono && css.mono, code && css.code, className)}
    />
  );
}
