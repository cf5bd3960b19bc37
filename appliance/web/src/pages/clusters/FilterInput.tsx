import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { Icon } from "@/components";
import popup from "@/components/popup/popup.module.css";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import css from "./FilterLine.module.css";
import type { FilterProps } from "./FilterLine";
import { suggestions } from "./filter";

/** How long nothing is typed before the list follows, in milliseconds: a thousand clusters are not drawn for each letter. */
const pause = 120;

/** The filter as text, with what may come next below it. Esc closes that, then empties the filter, then leaves it. */
export function FilterInput({ value, onChange, clusters }: FilterProps) {
  const t = useTexts("clusters");
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  useEffect(() => setTyped(value), [value]);
  const items = useMemo(() => (open ? suggestions(typed, clusters) : []), [open, typed, clusters]);
  const shown = items.length > 0;
  const later = useRef<ReturnType<typeof setTimeout>>(undefined);
  const change = (now: string, stays: boolean, wait: number) => {
    setTyped(now);
    setAt(-1);
    setOpen(stays);
    clearTimeout(later.current);
    later.current = setTimeout(() => onChange(now), wait);
  };
  /** A field alone is completed with a value next; a value is followed by another term. */
  const take = (item: string) => change(item, item.endsWith(":"), 0);
  const keys: Record<string, (e: KeyboardEvent<HTMLInputElement>) => void> = {
    ArrowDown: () => (shown ? setAt((at + 1) % items.length) : setOpen(true)),
    ArrowUp: () => shown && setAt((at <= 0 ? items.length : at) - 1),
    Enter: () => (items[at] === undefined ? setOpen(false) : take(items[at])),
    Escape: (e) => (shown ? setOpen(false) : typed ? change("", false, 0) : e.currentTarget.blur()),
  };
  return (
    <div className={css.search}>
      <Icon name="search" />
      <input
        className={css.input}
        role="combobox"
        aria-label={t("filter")}
        aria-expanded={shown}
        aria-controls={shown ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={shown && at >= 0 ? `${id}-${at}` : undefined}
        placeholder={t("filterExample")}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(e) => change(e.target.value, true, pause)}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(e) => {
          if (!keys[e.key]) return;
          e.preventDefault();
          keys[e.key]!(e);
        }}
      />
      {shown && (
        <ul className={cx(popup.popup, css.next)} role="listbox" id={id} aria-label={t("filterNext")}>
          {items.map((item, i) => (
            <li
              key={item}
              id={`${id}-${i}`}
              role="option"
              aria-selected={i === at}
              data-highlighted={i === at ? "" : undefined}
              className={popup.item}
              onPointerDown={(e) => e.preventDefault()} // the field keeps the focus
              onClick={() => take(item)}
            >
              {item.split(/\s+/).at(-1)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
