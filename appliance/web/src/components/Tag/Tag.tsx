import type { ReactNode } from "react";
import { Link } from "react-router";
import { cx } from "@/styles/classes";
import css from "./Tag.module.css";

/** A small word in a frame. */
export function Tag({ tone, children }: { tone?: "wait" | "busy"; children: ReactNode }) {
  return <span className={cx(css.tag, tone && css[tone])}>{children}</span>;
}

/** A count beside the name of what is counted. */
export function Count({ children, wait, title }: { children: number; wait?: boolean; title?: string }) {
  return (
    <span className={cx(css.count, wait && css.wait)} title={title}>
      {children}
    </span>
  );
}

/** A commit, by its first seven characters; a link where to says the page that shows it. */
export function Sha({ commit, to }: { commit: string; to?: string }) {
  const short = commit.slice(0, 7);
  return to ? (
    <Link className={css.sha} to={to}>
      {short}
    </Link>
  ) : (
    <span className={css.sha}>{short}</span>
  );
}

/** The first letter of a person, and the name. */
export function Person({ user }: { user: string }) {
  return (
    <span className={css.person}>
      <Avatar user={user} />
      {user}
    </span>
  );
}

export function Avatar({ user }: { user: string }) {
  // The letter is drawn, not text: a button's name would have to begin with it.
  return <span className={css.avatar} aria-hidden="true" data-letter={user.slice(0, 1).toUpperCase()} />;
}
