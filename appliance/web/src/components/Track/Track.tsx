import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import { Sha } from "../Tag/Tag";
import css from "./Track.module.css";

export interface TrackEntry {
  commit: string;
  title: string;
  to?: string;
  /** on: applied; busy: on its way; off: not yet. */
  state: "on" | "busy" | "off";
  /** Where the branch, the agent and the mirror stand, as tags. */
  pins?: ReactNode;
}

/** A branch as a line of commits, newest first. */
export function Track({ entries, label }: { entries: readonly TrackEntry[]; label: string }) {
  return (
    <ol className={css.track} aria-label={label}>
      {entries.map((e) => (
        <li key={e.commit}>
          <span className={cx(css.dot, css[e.state])} />
          <Sha commit={e.commit} to={e.to} />
          <span className={css.what}>{e.title}</span>
          <span className={css.pins}>{e.pins}</span>
        </li>
      ))}
    </ol>
  );
}
