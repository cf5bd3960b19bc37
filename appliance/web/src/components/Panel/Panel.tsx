import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import css from "./Panel.module.css";

/**
 * A framed part of a page. title is an h2; path is a file's path in its place; aside stands at the right end of the head. Without flush the content has
 * room around it; tables, files and lists are flush.
 */
export function Panel({ title, path, extra, aside, flush, live, children }: {
  title?: ReactNode;
  path?: string;
  /** Beside the title, such as a commit. */
  extra?: ReactNode;
  aside?: ReactNode;
  flush?: boolean;
  /** Changes are announced. */
  live?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={css.panel} aria-live={live ? "polite" : undefined}>
      {(title || path || aside) && (
        <div className={css.head}>
          {title && <h2>{title}</h2>}
          {path && <span className={css.path}>{path}</span>}
          {extra}
          {aside && <span className={css.aside}>{aside}</span>}
        </div>
      )}
      {flush ? children : <div className={css.body}>{children}</div>}
    </section>
  );
}

/** A titled part of the sheet over its whole width. */
export function Section({ title, aside, children }: { title: ReactNode; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={css.section}>
      <div className={css.sectionHead}>
        <h2>{title}</h2>
        {aside && <span className={css.aside}>{aside}</span>}
      </div>
      {children}
    </section>
  );
}

/** Names and values below each other. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode] | false | undefined)[] }) {
  return (
    <dl className={css.facts}>
      {facts.map((f) => f && (
        <div key={f[0]} className={css.fact}>
          <dt>{f[0]}</dt>
          <dd>{f[1]}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The content of a panel with parts below each other that belong together. */
export function Stack({ tight, className, children }: { tight?: boolean; className?: string; children: ReactNode }) {
  return <div className={cx(css.stack, tight && css.tight, className)}>{children}</div>;
}
