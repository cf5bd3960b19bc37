import { Toggle } from "@base-ui/react/toggle";
import { ToggleGroup } from "@base-ui/react/toggle-group";
import css from "./Segment.module.css";

/** One of two or three choices, all in sight. */
export function Segment<V extends string>({ label, value, onChange, options }: {
  label: string;
  value: V;
  onChange: (value: V) => void;
  options: readonly { value: V; label: string }[];
}) {
  return (
    <ToggleGroup className={css.segment} aria-label={label} value={[value]} onValueChange={(chosen) => chosen[0] && onChange(chosen[0] as V)}>
      {options.map((o) => (
        <Toggle key={o.value} value={o.value} className={css.choice}>
          {o.label}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
