import { cx } from "@/styles/classes";
import css from "./AddressStrip.module.css";

/** Above this many addresses a cell stands for several. */
const most = 256;

/** A cell an address; the text beside it carries the meaning, so screen readers do not hear it. added is what a change takes more. */
export function AddressStrip({ total, used, added = 0 }: { total: number; used: number; added?: number }) {
  const share = total > most ? most / total : 1;
  const [cells, first, then] = [total * share, used * share, (used + added) * share].map(Math.ceil) as [number, number, number];
  return (
    <div className={css.strip} aria-hidden="true">
      {Array.from({ length: cells }, (_, i) => (
        <i key={i} className={cx(i < first ? css.used : i < then && css.added)} />
      ))}
    </div>
  );
}
