import { Select as Base } from "@base-ui/react/select";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import { layer } from "../popup/layer";
import popup from "../popup/popup.module.css";
import { useField } from "./Field";
import { OptionText, type Option, type SelectProps, Shown, useNamed } from "./Select";
import css from "./Select.module.css";

interface SelectListProps<V extends string> extends SelectProps<V> {
  /** It was pressed, or came to by keyboard, before it was there. */
  asked: boolean;
  held: boolean;
}

/** A choice with its list, which opens below it. */
export function SelectList<V extends string>({ value, onChange, options, label, placeholder, className, asked, held }: SelectListProps<V>) {
  const field = useField();
  return (
    <Base.Root items={options as Option<V>[]} value={value} onValueChange={(v) => v !== null && onChange(v)} defaultOpen={asked}>
      <Base.Trigger id={field.id} className={cx(css.select, className)} autoFocus={held} {...useNamed(label)}>
        <Shown option={options.find((o) => o.value === value)} placeholder={placeholder} />
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
