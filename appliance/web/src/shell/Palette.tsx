import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { useNavigate } from "react-router";
import { Icon, Mark } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import dialog from "@/components/Dialog/Dialog.module.css";
import css from "./Palette.module.css";
import { type Entry, type Group, useEntries } from "./useEntries";

/** Finds a cluster, a page or an action by a few letters. */
export function Palette({ open, onOpenChange, onKeys }: { open: boolean; onOpenChange: (open: boolean) => void; onKeys: () => void }) {
  const t = useTexts("shell");
  return (
    <Dialog.Root open={open} onOpenChange={(now) => onOpenChange(now)}>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialog.backdrop} />
        <Dialog.Popup className={css.palette} aria-label={t("find")}>
          <Finder onDone={() => onOpenChange(false)} onKeys={onKeys} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Finder({ onDone, onKeys }: { onDone: () => void; onKeys: () => void }) {
  const t = useTexts("shell");
  const id = useId();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const groups = useEntries(typed, onKeys);
  const entries = groups.flatMap((g) => g.entries);
  const [at, setAt] = useState(0);
  useEffect(() => setAt(0), [typed]);
  const take = (entry: Entry | undefined) => {
    if (!entry) return;
    onDone();
    if (entry.to) void navigate(entry.to);
    else entry.run?.();
  };
  const key = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) setAt((at + step + entries.length) % Math.max(1, entries.length));
    else if (e.key === "Enter") take(entries[at]);
    else return;
    e.preventDefault();
  };
  return (
    <>
      <div className={css.input}>
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={t("find")}
          aria-expanded={entries.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={entries[at] && `${id}-${entries[at].key}`}
          placeholder={t("find")}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
          onKeyDown={key}
        />
        <kbd>{t("esc")}</kbd>
      </div>
      <div className={css.list} id={id} role="listbox" aria-label={t("found")}>
        {groups.map((g) => (
          <Entries key={g.key} group={g} id={id} current={entries[at]} onTake={take} onPoint={(entry) => setAt(entries.indexOf(entry))} />
        ))}
      </div>
      <p className={css.none} role="status">
        {entries.length === 0 && t("foundNothing")}
      </p>
    </>
  );
}

interface EntriesProps {
  group: Group;
  id: string;
  current: Entry | undefined;
  onTake: (entry: Entry) => void;
  onPoint: (entry: Entry) => void;
}

function Entries({ group, id, current, onTake, onPoint }: EntriesProps) {
  return (
    <div role="group" aria-labelledby={`${id}-${group.key}`}>
      <div className={css.title} id={`${id}-${group.key}`} role="presentation">
        {group.title}
      </div>
      {group.entries.map((e) => (
        <div
          key={e.key}
          id={`${id}-${e.key}`}
          role="option"
          aria-selected={e === current}
          className={cx(css.option, e === current && css.current)}
          onClick={() => onTake(e)}
          onPointerMove={() => e !== current && onPoint(e)}
          ref={(element) => void (e === current && element?.scrollIntoView({ block: "nearest" }))}
        >
          {e.mark ? <Mark kind={e.mark} /> : e.icon && <Icon name={e.icon} />}
          <span>{e.label}</span>
          {e.detail && <small>{e.detail}</small>}
        </div>
      ))}
    </div>
  );
}
