import { Link } from "react-router";
import type { Phase } from "@/api";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { usePhaseWord } from "../Badge/Badge";
import { Mark, markOf } from "../Mark/Mark";
import { countByPhase, groupByNamespace } from "./groups";
import css from "./Stones.module.css";

/** A cluster as a stone. */
export interface Stone {
  namespace: string;
  name: string;
  phase: Phase;
  /** A few words, such as "2 of 5 nodes"; without them the phase. */
  state?: string;
  /** Something about it needs a person, though it runs. */
  flag?: boolean;
}

/** Above this many clusters each namespace shows counts instead of stones. */
const many = 24;

/** The fleet at one glance: a stone a cluster, a lintel a namespace. */
export function Stones({ stones, stale }: { stones: readonly Stone[]; stale?: boolean }) {
  const t = useTexts("common");
  const groups = groupByNamespace(stones);
  const counted = stones.length > many;
  return (
    <ul className={cx(css.henge, counted && css.counted)} aria-label={t("fleet")}>
      {groups.map((g) => (
        <li key={g.namespace} className={cx(css.trilith, css[`of${Math.min(g.stones.length, 5)}`])}>
          <div className={css.lintel}>
            <span>{g.namespace}</span>
            {counted && <small>{g.stones.length}</small>}
          </div>
          {counted ? <Counts namespace={g.namespace} stones={g.stones} stale={stale} /> : <Row stones={g.stones} stale={stale} />}
        </li>
      ))}
    </ul>
  );
}

function Row({ stones, stale }: { stones: readonly Stone[]; stale?: boolean }) {
  const word = usePhaseWord();
  return (
    <ul className={css.stones}>
      {stones.map((s) => (
        <li key={s.name} className={css.cell}>
          <Link to={`/clusters/${s.namespace}/${s.name}`} className={cx(css.stone, !stale && css[markOf(s.phase)], s.flag && css.flag)}>
            <Mark kind={stale ? "stale" : markOf(s.phase)} />
            <span className={css.name}>{s.name}</span>
            <span className={css.state}>
              {s.state && s.state !== word(s.phase) && <span className={layout.sr}>{word(s.phase)}. </span>}
              {s.state ?? word(s.phase)}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Counts({ namespace, stones, stale }: { namespace: string; stones: readonly Stone[]; stale?: boolean }) {
  const word = usePhaseWord();
  return (
    <ul className={css.counts}>
      {countByPhase(stones).map(({ phase, count }) => (
        <li key={phase}>
          <Link className={css.countLink} to={`/clusters?q=${encodeURIComponent(`namespace:${namespace} phase:${phase.toLowerCase()}`)}`}>
            <Mark kind={stale ? "stale" : markOf(phase)} />
            {count} {word(phase)}
          </Link>
        </li>
      ))}
    </ul>
  );
}
