import { useEffect, useRef } from "react";
import { useNavigate } from "react-router";
import { useFleet, useSession } from "@/api";
import { arrowStep, keyOf, type Pressed } from "./keymap";
import { menuOf } from "./menu";

const kept = "kubehenge.keys";

/** Whether single letters do something; the person can switch that off. */
export const singleKeysOn = () => localStorage.getItem(kept) !== "off";
export const setSingleKeys = (on: boolean) => localStorage.setItem(kept, on ? "on" : "off");

/** The keys that work on every page. */
export function useKeys(actions: { find: () => void; log: () => void; help: () => void }) {
  const navigate = useNavigate();
  const session = useSession();
  const fleet = useFleet().data;
  const went = useRef(0); // when G was pressed
  const latest = useRef<(pressed: Pressed) => void>(undefined);
  latest.current = (pressed) => {
    const page = pressed.startsWith("page") ? menuOf(session, fleet)[Number(pressed.slice(4)) - 1] : undefined;
    if (page) void navigate(page.to);
    if (pressed === "find") actions.find();
    if (pressed === "log") actions.log();
    if (pressed === "help") actions.help();
    if (pressed === "new") void navigate("/clusters/new");
    if (pressed === "submit") document.querySelector<HTMLElement>("main [data-variant=primary]")?.click();
    went.current = pressed === "go" ? Date.now() : 0;
  };
  useEffect(() => {
    const down = (event: KeyboardEvent) => {
      const pressed = keyOf(event, { typing: isTyping(event.target), letters: singleKeysOn(), afterG: Date.now() - went.current < 1500, covered: isCovered() });
      if (pressed) {
        event.preventDefault();
        latest.current?.(pressed);
      } else if (!isCovered()) moveAmong(event);
    };
    addEventListener("keydown", down);
    return () => removeEventListener("keydown", down);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select, [role=combobox], [role=textbox]"));
}

/** A dialog or a menu is open, which has its own keys. Closed ones may stay in the document, unseen; a toast is a dialog that covers nothing. */
function isCovered(): boolean {
  return [...document.querySelectorAll("[role=dialog]:not([aria-modal=false]), [role=alertdialog], [role=menu], [role=listbox]")].some((e) => e.checkVisibility({ visibilityProperty: true }));
}

/** Arrow keys go from one to the next in tabs, toolbars and lists that say so with data-arrows. */
function moveAmong(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const group = target.closest<HTMLElement>("[data-arrows]");
  const step = group && arrowStep(event.key, group.dataset.arrows);
  if (!group || !step || isTyping(target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = [...group.querySelectorAll<HTMLElement>("a, button")].filter((e) => e.offsetParent !== null);
  const next = all[all.indexOf(target.closest<HTMLElement>("a, button")!) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
