import type { Phase, Summary } from "@/api";
import { Button, Menu, type MenuItem, usePhaseWord } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import { FilterInput } from "./FilterInput";
import css from "./FilterLine.module.css";
import { type FilterField, parseFilter, toggleValue, valuesOf } from "./filter";

export interface FilterProps {
  value: string;
  onChange: (value: string) => void;
  clusters: readonly Summary[];
}

/** The filter as text, with what may come next, and the same as menus. */
export function FilterLine(props: FilterProps) {
  const t = useTexts("clusters");
  return (
    <>
      <FilterInput {...props} />
      <div className={css.chips} role="group" aria-label={t("filterBy")} data-arrows="row">
        <Chip field="phase" label={t("phase")} {...props} />
        <Chip field="namespace" label={t("namespace")} {...props} />
        <Chip field="owner" label={t("owner")} {...props} />
        <Chip field="version" label={t("version")} {...props} />
      </div>
    </>
  );
}

/** How many values a menu offers; more are found by typing. */
const most = 20;

function Chip({ field, label, value, onChange, clusters }: FilterProps & { field: FilterField; label: string }) {
  const t = useTexts("clusters");
  const word = usePhaseWord();
  const chosen = parseFilter(value).values[field] ?? [];
  const words = (v: string) => (field === "phase" ? word((v[0]!.toUpperCase() + v.slice(1)) as Phase) : v);
  const values = [...(field === "owner" ? ["me"] : []), ...valuesOf(clusters, field)].slice(0, most);
  const items = values.map(
    (v): MenuItem => ({ key: v, label: v === "me" ? t("me") : words(v), checked: chosen.includes(v), onSelect: () => onChange(toggleValue(value, field, v)), stays: true }),
  );
  return (
    <Menu
      align="start"
      trigger={
        <Button variant="quiet" iconEnd="down" className={cx(chosen.length > 0 && css.chosen)}>
          {label}
        </Button>
      }
      items={items}
    />
  );
}
