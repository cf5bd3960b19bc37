import { Combobox as Base } from "@base-ui/react/combobox";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import { layer } from "../popup/layer";
import popup from "../popup/popup.module.css";
import css from "./Combobox.module.css";
import { useField } from "./Field";
import { type Option, OptionText, type SelectProps } from "./Select";

/** One of many choices, found by typing. */
export function Combobox<V extends string>({ value, onChange, options, label, placeholder, className }: SelectProps<V>) {
  const t = useTexts("common");
  const field = useField();
  const chosen = options.find((o) => o.value === value) ?? null;
  return (
    <Base.Root<Option<V>>
      items={options as Option<V>[]}
      value={chosen}
      onValueChange={(o) => o && onChange(o.value)}
      itemToStringLabel={(o) => o.label}
      isItemEqualToValue={(a, b) => a.value === b.value}
      autoHighlight
    >
      <div className={cx(css.combobox, className)}>
        <Base.Input
          id={field.id}
          className={css.input}
          aria-label={label}
          aria-describedby={field.describedBy}
          aria-invalid={field.invalid || undefined}
          placeholder={placeholder}
          spellCheck={false}
        />
        <Base.Trigger className={css.open} aria-label={t("showChoices")} tabIndex={-1}>
          <Icon name="down" small />
        </Base.Trigger>
      </div>
      <Base.Portal container={layer}>
        <Base.Positioner className={popup.place} sideOffset={4}>
          <Base.Popup className={popup.popup}>
            <Base.Empty className={popup.empty}>{t("nothingFits")}</Base.Empty>
            <Base.List className={popup.list}>
              {(o: Option<V>) => (
                <Base.Item key={o.value} value={o} disabled={o.reason !== undefined} className={popup.item}>
                  <OptionText option={o} />
                  <Base.ItemIndicator className={popup.check}>
                    <Icon name="check" small />
                  </Base.ItemIndicator>
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
