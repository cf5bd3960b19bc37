import { type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { Link, useParams } from "react-router";
import { type Summary, useClusters } from "@/api";
import { Button, Icon, Input, Mark, markOf, usePhaseWord } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { clusterAddress, filterAddress } from "./addresses";
import { branchesOf, type Branch, mostTwigs } from "./branches";
import { useKept } from "./kept";
import css from "./Tree.module.css";

/** The clusters by namespace. Up and down go through it, left and right fold it. */
export function Tree({ children }: { children?: ReactNode }) {
  const t = useTexts("shell");
  const { data } = useClusters();
  const [filter, setFilter] = useState<string>();
  const [folds, setFolds] = useKept<Record<string, boolean>>("tree.folded", {});
  const current = useParams();
  const tree = useRef<HTMLUListElement>(null);
  const branches = useMemo(() => branchesOf(data?.clusters ?? [], filter ?? ""), [data, filter]);
  const many = (data?.clusters.length ?? 0) > mostTwigs;
  const isFolded = (namespace: string) => !filter && (folds[namespace] ?? (many && namespace !== current.namespace));
  const fold = (namespace: string, folded: boolean) => setFolds({ ...folds, [namespace]: folded });
  return (
    <nav aria-label={t("tree")} className={css.tree}>
      <div className={css.head}>
        <span>{t("namespaces")}</span>
        <Button variant="quiet" icon="search" label={t("filterTree")} aria-expanded={filter !== undefined} onClick={() => setFilter(filter === undefined ? "" : undefined)} />
      </div>
      {filter !== undefined && (
        <Input
          autoFocus
          aria-label={t("filterTree")}
          className={css.filter}
          value={filter}
          onChange={(e) => setFilter(e.target.value)}
          onKeyDown={(e) => e.key === "Escape" && setFilter(undefined)}
        />
      )}
      <ul ref={tree} onKeyDown={(e) => moveInTree(e, tree.current, fold)}>
        {branches.map((b) => (
          <Twigs key={b.namespace} branch={b} folded={isFolded(b.namespace)} onFold={(f) => fold(b.namespace, f)} stale={Boolean(data?.stale)} />
        ))}
      </ul>
      {data && branches.length === 0 && <p className={css.none}>{filter ? t("treeNoMatch") : t("treeEmpty")}</p>}
      {children}
    </nav>
  );
}

function Twigs({ branch, folded, onFold, stale }: { branch: Branch; folded: boolean; onFold: (folded: boolean) => void; stale: boolean }) {
  const t = useTexts("shell");
  const { namespace, clusters } = branch;
  return (
    <li>
      <button type="button" className={css.namespace} aria-expanded={!folded} data-namespace={namespace} onClick={() => onFold(!folded)}>
        <Icon name={folded ? "right" : "down"} />
        <span>{namespace}</span>
        {folded && <small>{clusters.length}</small>}
      </button>
      {!folded && (
        <ul>
          {clusters.slice(0, mostTwigs).map((c) => (
            <li key={c.name}>
              <Twig cluster={c} stale={stale} />
            </li>
          ))}
          {clusters.length > mostTwigs && (
            <li>
              <Link className={css.rest} to={filterAddress(`namespace:${namespace}`)} data-namespace={namespace}>
                {t("treeRest", { n: clusters.length - mostTwigs })}
              </Link>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Twig({ cluster: c, stale }: { cluster: Summary; stale: boolean }) {
  const word = usePhaseWord();
  const params = useParams();
  const current = params.namespace === c.namespace && params.name === c.name;
  const moving = c.nodes.wanted > 0 && c.nodes.ready !== c.nodes.wanted && c.phase !== "Pending" && c.phase !== "Unknown" && c.phase !== "Deleted";
  return (
    <Link to={clusterAddress(c)} className={cx(css.twig, current && css.current)} aria-current={current ? "page" : undefined} data-namespace={c.namespace}>
      <Mark kind={stale ? "stale" : markOf(c.phase)} />
      <span className={css.name}>{c.name}</span>
      <span className={layout.sr}>, {word(c.phase)}</span>
      {moving && (
        <small>
          {c.nodes.ready}/{c.nodes.wanted}
        </small>
      )}
    </Link>
  );
}

function moveInTree(event: KeyboardEvent, tree: HTMLElement | null, fold: (namespace: string, folded: boolean) => void): void {
  const at = (event.target as HTMLElement).closest<HTMLElement>("a, button");
  if (!tree || !at || event.ctrlKey || event.altKey || event.metaKey) return;
  const all = [...tree.querySelectorAll<HTMLElement>("a, button")];
  const head = (namespace: string) => all.find((e) => e.tagName === "BUTTON" && e.dataset.namespace === namespace);
  const namespace = at.dataset.namespace ?? "";
  const go: Record<string, () => HTMLElement | undefined | void> = {
    ArrowDown: () => all[all.indexOf(at) + 1],
    ArrowUp: () => all[all.indexOf(at) - 1],
    Home: () => all[0],
    End: () => all.at(-1),
    ArrowLeft: () => (at.tagName === "BUTTON" ? fold(namespace, true) : head(namespace)),
    ArrowRight: () => (at.getAttribute("aria-expanded") === "true" ? all[all.indexOf(at) + 1] : fold(namespace, false)),
  };
  const move = go[event.key];
  if (!move || (event.key === "ArrowRight" && at.tagName !== "BUTTON")) return;
  event.preventDefault();
  move()?.focus();
}
