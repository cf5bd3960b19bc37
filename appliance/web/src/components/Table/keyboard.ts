import type { KeyboardEvent } from "react";

const steps: Readonly<Record<string, (at: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 10,
  PageUp: (at) => at - 10,
};

/**
 * Moves the focus from row to row, and opens a row's actions. Keys inside a field or an open menu are the field's or the menu's. It is asked first, since
 * arrow keys on the button of a closed menu would open that.
 */
export function moveInRows(event: KeyboardEvent, body: HTMLElement | null, scrollTo: (row: number) => void): void {
  const target = event.target as HTMLElement;
  const row = target.closest<HTMLElement>("tr[data-row]");
  if (!row || !body || event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea, [aria-expanded=true]")) return;
  if (event.key === ".") {
    row.querySelector<HTMLElement>("[data-row-actions]")?.click();
    event.preventDefault();
    return;
  }
  const step = steps[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const wanted = Math.max(0, step(Number(row.dataset.row)));
  if (focusRow(body, wanted)) return;
  scrollTo(wanted);
  requestAnimationFrame(() => requestAnimationFrame(() => focusRow(body, wanted)));
}

function focusRow(body: HTMLElement, row: number): boolean {
  const target = body.querySelector<HTMLElement>(`tr[data-row="${row}"] :is(a, button)`);
  target?.focus();
  return target !== null;
}
