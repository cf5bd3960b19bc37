import { createContext, type ReactNode, use, useId } from "react";
import { Icon } from "../Icon/Icon";
import css from "./Field.module.css";

interface FieldParts {
  id: string;
  labelId: string;
  describedBy: string | undefined;
  invalid: boolean;
}

const Parts = createContext<FieldParts | undefined>(undefined);

/** What a control needs to belong to the field around it; empty outside of one. */
export function useField(): Partial<FieldParts> {
  return use(Parts) ?? {};
}

/** A label, its control, and a hint; an error takes the hint's place. action stands at the right of the label. */
export function Field({ label, hint, error, action, children }: {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  const below = error || hint;
  const parts = { id, labelId: `${id}-label`, describedBy: below ? `${id}-below` : undefined, invalid: Boolean(error) };
  return (
    <div className={css.field}>
      <span className={css.top}>
        <label id={parts.labelId} htmlFor={id}>
          {label}
        </label>
        {action}
      </span>
      <Parts value={parts}>{children}</Parts>
      {error ? (
        <p className={css.error} id={parts.describedBy} role="alert">
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      ) : (
        hint && (
          <p className={css.hint} id={parts.describedBy}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

/** Two controls as one, such as namespace and name. */
export function Joined({ children }: { children: ReactNode }) {
  return <div className={css.joined}>{children}</div>;
}
