import { cx } from "@/styles/classes";
import css from "./Icon.module.css";
import { paths } from "./paths";

export type IconName = keyof typeof paths;

/** A drawn icon in the colour of its text. It never carries meaning alone, so screen readers do not hear it. */
export function Icon({ name, small, className }: { name: IconName; small?: boolean; className?: string }) {
  return (
    <svg className={cx(css.icon, small && css.small, className)} viewBox="0 0 16 16" aria-hidden="true" focusable="false" data-icon={name}>
      <path d={paths[name]} strokeWidth={name === "more" ? 2.4 : undefined} />
    </svg>
  );
}

/** The wordmark's drawing: two stones, a lintel and the sun between them. */
export function BrandMark({ className }: { className?: string }) {
  return (
    <svg className={cx(css.brand, className)} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path className={css.stone} d="M1.6 4.3 21.9 3.2l.6 4.6L2 8.7z" />
      <path className={css.stone} d="M2.9 10.2l4.9-.2.3 11H2.2z" />
      <path className={css.stone} d="M16.2 9.7l4.9-.2.8 11.5h-6z" />
      <path className={css.sun} d="M8.6 21a3.45 3.45 0 0 1 6.9 0z" />
    </svg>
  );
}
