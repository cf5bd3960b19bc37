import { lazy, Suspense, useRef } from "react";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import { later } from "../popup/later";
import popup from "../popup/popup.module.css";
import { useField } from "./Field";
import { Input } from "./Input";
import css from "./Select.module.css";

export interface Option<V extends string = string> {
  value: V;
  label: string;
  /** Small and grey behind the label: what the choice means. */
  detail?: string;
  /** Why it cannot be chosen. */
  reason?: string;
}

export interface SelectProps<V extends string> {
  value: V | null;
  onChange: (value: V) => void;
  options: readonly Option<V>[];
  /** Only where no Field is around it. */
  label?: string;
  /** Shown while nothing is chosen. */
  placeholder?: string;
  className?: string;
}

/** Above this many choices one types to find one. */
const many = 12;

// What opens a list is as large as all other parts together, so it comes when somebody turns to a choice, or a page stands.
const lists = later(() => import("./SelectList"));

// Few pages have so many choices that one types.
const Combobox = lazy(async () => ({ default: (await import("./Combobox")).Combobox }));

/** One of several choices. Above twelve it becomes a Combobox on its own. */
export function Select<V extends string>(props: SelectProps<V>) {
  const any = props as unknown as SelectProps<string>;
  if (props.options.length <= many) return <Few {...any} />;
  return (
    <Suspense fallback={<Input readOnly aria-label={props.label} value={props.options.find((o) => o.value === props.value)?.label ?? ""} />}>
      <Combobox {...any} />
    </Suspense>
  );
}

function Few(props: SelectProps<string>) {
  const [asked, held] = [useRef(false), useRef(false)];
  const list = lists.use();
  if (list) return <list.SelectList {...props} asked={asked.current} held={held.current} />;
  const ask = () => {
    asked.current = true;
    lists.warm();
  };
  const hold = (now: boolean) => {
    held.current = now;
    if (now) lists.warm();
  };
  return <Face {...props} onAsk={ask} onHold={hold} />;
}

interface FaceProps extends SelectProps<string> {
  onAsk: () => void;
  onHold: (held: boolean) => void;
}

/** The choice as it looks closed, until its list is there; what is done to it meanwhile is done to that. */
function Face({ value, options, label, placeholder, className, onAsk, onHold }: FaceProps) {
  const field = useField();
  return (
    <button
      type="button"
      role="combobox"
      aria-expanded={false}
      aria-haspopup="listbox"
      id={field.id}
      className={cx(css.select, className)}
      onMouseDown={onAsk} // the list may take this one's place before the button is let go
      onClick={onAsk}
      onPointerEnter={lists.warm}
      onFocus={() => onHold(true)}
      onBlur={() => onHold(false)}
      {...useNamed(label)}
    >
      <Shown option={options.find((o) => o.value === value)} placeholder={placeholder} />
    </button>
  );
}

/** By what screen readers call a choice: its own label, or its field's, and the value. */
export function useNamed(label: string | undefined) {
  const field = useField();
  return {
    "aria-label": label,
    "aria-labelledby": label || !field.labelId ? undefined : `${field.labelId} ${field.id}`,
    "aria-describedby": field.describedBy,
    "aria-invalid": field.invalid || undefined,
  };
}

/** What is chosen, and that one can choose. */
export function Shown({ option, placeholder }: { option: Option | undefined; placeholder?: string }) {
  return (
    <>
      <span className={css.value}>
        {option ? (
          <>
            {option.label} {option.detail && <small>{option.detail}</small>}
          </>
        ) : (
          <span className={css.none}>{placeholder}</span>
        )}
      </span>
      <Icon name="down" />
    </>
  );
}

/** The words of a choice in a list: what it is, and small what it means or why it cannot be chosen. */
export function OptionText({ option }: { option: Option }) {
  const small = option.reason ?? option.detail;
  return (
    <span className={popup.words}>
      {option.label}
      {small && " "}
      {small && <small>{small}</small>}
    </span>
  );
}
