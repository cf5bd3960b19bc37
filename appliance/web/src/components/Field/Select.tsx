import { Select as Base } from "@base-ui/react/select";
import { lazy, Suspense } from "react";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import { layer } from "../popup/layer";
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

// Few pages have that many, so they alone load it.
const Combobox = lazy(async () => ({ default: (await import("./Combobox")).Combobox }));

/** One of several choices. Above twelve it becomes a Combobox on its own. */
export function Select<V extends string>(props: SelectProps<V>) {
  if (props.options.length <= many) return <Plain {...props} />;
  return (
    <Suspense fallback={<Input readOnly aria-label={props.label} value={props.options.find((o) => o.value === props.value)?.label ?? ""} />}>
      <Combobox {...(props as unknown as SelectProps<string>)} />
    </Suspense>
  );
}

function Plain<V extends string>({ value, onChange, options, label, placeholder, className }: SelectProps<V>) {
  const field = useField();
  return (
    <Base.Root items={options as Option<V>[]} value={value} onValueChange={(v) => v !== null && onChange(v)}>
      <Base.Trigger
        id={field.id}
        className={cx(css.select, className)}
        aria-label={label}
        aria-labelledby={label || !field.labelId ? undefined : `${field.labelId} ${field.id}`}
        aria-describedby={field.describedBy}
        aria-invalid={field.invalid || undefined}
      >
        <span className={css.value}>
          <Shown option={options.find((o) => o.value === value)} placeholder={placeholder} />
        </span>
        <Icon name="down" />
      </Base.Trigger>
      <Base.Portal container={layer}>
        <Base.Positioner className={popup.place} sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className={popup.popup}>
            <Base.List className={popup.list}>
              {options.map((o) => (
                <Base.Item key={o.value} value={o.value} disabled={o.reason !== undefined} className={popup.item} label={o.label}>
                  <OptionText option={o} />
                  <Base.ItemIndicator className={popup.check}>
                    <Icon name="check" small />
                  </Base.ItemIndicator>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Shown({ option, placeholder }: { option: Option | undefined; placeholder?: string }) {
  if (!option) return <span className={css.none}>{placeholder}</span>;
  return (
    <>
      {option.label} {option.detail && <small>{option.detail}</small>}
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
