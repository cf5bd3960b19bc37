import { NumberField } from "@base-ui/react/number-field";
import { useTexts } from "@/i18n";
import { Icon } from "../Icon/Icon";
import { useField } from "./Field";
import css from "./NumberInput.module.css";

const whole = { maximumFractionDigits: 0, useGrouping: false };

/** A whole number, typed or stepped. unit stands behind it. */
export function NumberInput({ value, onChange, min, max, step = 1, unit, label }: {
  value: number | null;
  onChange: (value: number | null) => void;
  min?: number;
  max?: number;
  step?: number;
  unit?: string;
  /** Only where no Field is around it. */
  label?: string;
}) {
  const t = useTexts("common");
  const field = useField();
  return (
    <NumberField.Root id={field.id} value={value} onValueChange={onChange} min={min} max={max} step={step} snapOnStep format={whole}>
      <NumberField.Group className={css.group}>
        <NumberField.Decrement className={css.step} aria-label={t("less")}>
          <Icon name="minus" small />
        </NumberField.Decrement>
        <NumberField.Input className={css.input} aria-label={label} aria-describedby={field.describedBy} aria-invalid={field.invalid || undefined} />
        {unit && <span className={css.unit}>{unit}</span>}
        <NumberField.Increment className={css.step} aria-label={t("more")}>
          <Icon name="plus" small />
        </NumberField.Increment>
      </NumberField.Group>
    </NumberField.Root>
  );
}
