import { Autocomplete } from "@base-ui/react/autocomplete";
import { useEffect, useMemo, useState } from "react";
import type { Phase, Summary } from "@/api";
import { Button, Icon, Menu, type MenuItem, usePhaseWord } from "@/components";
import popup from "@/components/popup/popup.module.css";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import css from "./FilterLine.module.css";
import { type FilterField, parseFilter, suggestions, toggleValue, valuesOf } from "./filter";

interface FilterProps {
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

function FilterInput({ value, onChange, clusters }: FilterProps) {
  const t = useTexts("clusters");
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const items = useMemo(() => suggestions(typed, clusters), [typed, clusters]);
  const change = (now: string) => {
    setTyped(now);
    onChange(now);
  };
  return (
    <Autocomplete.Root items={items} filter={null} value={typed} onValueChange={change} mode="list" openOnInputClick>
      <div className={css.search}>
        <Icon name="search" />
        <Autocomplete.Input
          className={css.input}
          aria-label={t("filter")}
          placeholder={t("filterExample")}
          spellCheck={false}
          onKeyDown={(e) => e.key === "Escape" && e.currentTarget.getAttribute("aria-expanded") !== "true" && leave(e.currentTarget, change)}
        />
      </div>
      <Autocomplete.Portal>
        <Autocomplete.Positioner className={popup.place} sideOffset={4}>
          <Autocomplete.Popup className={cx(popup.popup, items.length === 0 && css.gone)}>
            <Autocomplete.List className={popup.list}>
              {(item: string) => (
                <Autocomplete.Item key={item} value={item} className={popup.item}>
                  {item.split(/\s+/).at(-1)}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

/** Esc empties a filter, and leaves it where it is empty. */
function leave(input: HTMLInputElement, change: (value: string) => void): void {
  if (input.value) change("");
  else input.blur();
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
