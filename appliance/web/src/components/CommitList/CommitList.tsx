import type { ReactNode } from "react";
import { Link } from "react-router";
import css from "./CommitList.module.css";

export interface CommitEntry {
  commit: string;
  title: string;
  /** In place of the commit's number, such as a tag that says it waits. */
  badge?: ReactNode;
  by: string;
  when: ReactNode;
  to: string;
  current?: boolean;
}

/** Commits, newest first; the one that is shown beside the list is marked. */
export function CommitList({ entries, label }: { entries: readonly CommitEntry[]; label: string }) {
  return (
    <ul className={css.commits} aria-label={label} data-arrows="column">
      {entries.map((e) => (
        <li key={e.commit}>
          <Link to={e.to} aria-current={e.current ? "true" : undefined} replace preventScrollReset>
            <b>{e.title}</b>
            <small>
              <span className={css.sha}>{e.commit.slice(0, 7)}</span>
              {e.badge}
              <span>{e.by}</span>
              <span>{e.when}</span>
            </small>
          </Link>
        </li>
      ))}
    </ul>
  );
}
