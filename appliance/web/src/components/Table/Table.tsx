import { type CSSProperties, type KeyboardEvent, type ReactNode, useMemo, useRef } from "react";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { Icon } from "../Icon/Icon";
import { moveInRows } from "./keyboard";
import { type Sort, sorted, toggled } from "./sort";
import css from "./Table.module.css";
import { useWindow } from "./useWindow";

export type { Sort } from "./sort";

export interface Column<Row> {
  key: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Makes the column sortable, ascending. */
  compare?: (a: Row, b: Row) => number;
  /** Numbers stand at the right. */
  number?: boolean;
  /** fit takes as little room as it needs; grow takes what is left and cuts what is too long. */
  width?: "fit" | "grow";
  /** wide is not on a phone; roomy only where there is much room; phone on a phone alone. */
  show?: "wide" | "roomy" | "phone";
  /** The head is only for screen readers, such as over buttons. */
  headHidden?: boolean;
  /** Quieter than the rest. */
  soft?: boolean;
  /** The head of the row, which names it. */
  header?: boolean;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** A coloured edge for what needs a person, and dimming for what does not count. */
  tone?: (row: Row) => "error" | "wait" | "dim" | undefined;
  selected?: (row: Row) => boolean;
  sort?: Sort;
  /** With it the columns that compare can be sorted by; rows are sorted here. */
  onSort?: (sort: Sort) => void;
  /** Smaller rows, as in the log. */
  dense?: boolean;
  /** Less room between columns, where there are many; names break where they would not fit. */
  close?: boolean;
}

/**
 * Rows and columns. Arrow keys go from row to row through their first links or buttons, "." opens the actions of a row: a button with data-row-actions. Above
 * 200 rows only those in sight are drawn, so it must stand in something that scrolls.
 */
export function Table<Row>({ label, columns, rows, rowKey, tone, selected, sort, onSort, dense, close }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const list = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort]);
  const shown = useWindow(body, list.length);
  const whole = shown.from === 0 && shown.to === list.length;
  const onKeyDown = (event: KeyboardEvent) => moveInRows(event, body.current, shown.scrollTo);
  return (
    <table className={cx(css.table, dense && css.dense, close && css.close)} aria-label={label} aria-rowcount={whole ? undefined : list.length + 1}>
      <thead>
        <tr aria-rowindex={whole ? undefined : 1}>
          {columns.map((c) => (
            <Head key={c.key} column={c} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody ref={body} onKeyDownCapture={onKeyDown}>
        <Spacer height={shown.above} columns={columns.length} />
        {list.slice(shown.from, shown.to).map((row, i) => (
          <tr
            key={rowKey(row)}
            data-row={shown.from + i}
            aria-rowindex={whole ? undefined : shown.from + i + 2}
            className={cx(css[tone?.(row) ?? ""], selected?.(row) && css.selected)}
          >
            {columns.map((c) => (
              <Cell key={c.key} column={c} row={row} />
            ))}
          </tr>
        ))}
        <Spacer height={shown.below} columns={columns.length} />
      </tbody>
    </table>
  );
}

function shape<Row>(c: Column<Row>): string {
  return cx(
    c.number && css.number,
    c.width && css[c.width],
    c.soft && css.soft,
    c.show === "phone" ? css.phone : c.show && `${layout.wide} ${css.away}`,
    c.show === "roomy" && layout.roomy,
    c.header && css.name,
  );
}

function Head<Row>({ column: c, sort, onSort }: { column: Column<Row>; sort?: Sort; onSort?: (sort: Sort) => void }) {
  const t = useTexts("common");
  const active = sort?.key === c.key ? sort : undefined;
  const inside = c.headHidden ? <span className={layout.sr}>{c.head}</span> : c.head;
  return (
    <th scope="col" className={shape({ ...c, soft: false, header: false })} aria-sort={active && (active.descending ? "descending" : "ascending")}>
      {c.compare && onSort ? (
        <button type="button" className={css.sort} onClick={() => onSort(toggled(sort, c.key))} title={t("sortBy")}>
          {inside}
          {active && <Icon name={active.descending ? "down" : "up"} />}
        </button>
      ) : (
        inside
      )}
    </th>
  );
}

function Cell<Row>({ column: c, row }: { column: Column<Row>; row: Row }) {
  return c.header ? (
    <th scope="row" className={shape(c)}>
      {c.cell(row)}
    </th>
  ) : (
    <td className={shape(c)}>{c.cell(row)}</td>
  );
}

/** The room of rows that are not drawn. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  const style: CSSProperties = { height, padding: 0, border: 0 };
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} style={style} />
    </tr>
  );
}
