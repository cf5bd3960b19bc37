/** By which column a table is sorted. */
export interface Sort {
  key: string;
  descending?: boolean;
}

/** The sort after a press on a column's head: another column ascending, the same one turned round. */
export function toggled(sort: Sort | undefined, key: string): Sort {
  return sort?.key === key ? { key, descending: !sort.descending } : { key };
}

/** The rows in the order of a sort; those that are equal keep theirs. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly { key: string; compare?: (a: Row, b: Row) => number }[],
  sort: Sort | undefined,
): readonly Row[] {
  const compare = columns.find((c) => c.key === sort?.key)?.compare;
  if (!compare) return rows;
  const sign = sort?.descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(a, b));
}
