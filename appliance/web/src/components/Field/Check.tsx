import type { ReactNode } from "react";
import css from "./Check.module.css";

interface CheckProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}

/** Yes or no in a form. */
export function Check({ checked, onChange, children }: CheckProps) {
  return (
    <label className={css.check}>
      <input type="checkbox" checked={checked} onChange={(e) => onChange(e.target.checked)} />
      <span>{children}</span>
    </label>
  );
}

/** On or off, where it acts at once. */
export function Switch({ checked, onChange, children }: CheckProps) {
  return (
    <label className={css.switch}>
      <input type="checkbox" role="switch" checked={checked} onChange={(e) => onChange(e.target.checked)} />
      <span>{children}</span>
    </label>
  );
}
