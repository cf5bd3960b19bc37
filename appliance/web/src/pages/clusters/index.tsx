import { useMemo } from "react";
import { useSearchParams } from "react-router";
import { useClusters, useFleet, useSession } from "@/api";
import { Button, Empty, Failed, Page, Skeleton, type Sort, Table } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { useColumns } from "./columns";
import { FilterLine } from "./FilterLine";
import { filtered } from "./filter";

/** All clusters that the person may see. The filter and the order are in the address, so that they can be kept and sent. */
export function Component() {
  const t = useTexts("clusters");
  const { data, error, refetch } = useClusters();
  const [search, setSearch] = useSearchParams();
  const { user } = useSession();
  const [q, sort] = [search.get("q") ?? "", sortOf(search.get("sort"))];
  const stale = data?.stale?.since;
  const columns = useColumns(useFleet().data?.sizes ?? [], stale);
  const all = data?.clusters;
  const shown = useMemo(() => filtered(all ?? [], q, user), [all, q, user]);
  const set = (key: "q" | "sort", value: string) =>
    setSearch(
      (now) => {
        if (value) now.set(key, value);
        else now.delete(key);
        return now;
      },
      { replace: true },
    );
  const line = all && all.length > 0 && (
    <>
      <FilterLine value={q} onChange={(v) => set("q", v)} clusters={all} />
      <span className={layout.spring} />
      <span className={cx(layout.muted, layout.small, layout.wide)} role="status">
        {t("sum", { n: shown.length, ready: sum(shown, "ready"), wanted: sum(shown, "wanted") })}
      </span>
    </>
  );
  return (
    <Page title={t("title")} crumbs={[{ label: t("home"), to: "/" }, { label: t("title") }]} line={line} flush scrollLabel={t("title")}>
      {error && !data && <Failed error={error} retry={() => void refetch()} />}
      {!error && !data && <Skeleton padded lines={8} />}
      {all?.length === 0 && <NoClusters />}
      {all && all.length > 0 && shown.length === 0 && <NoMatch onClear={() => set("q", "")} />}
      {shown.length > 0 && (
        <Table
          label={t("title")}
          columns={columns}
          rows={shown}
          rowKey={(c) => `${c.namespace}/${c.name}`}
          tone={(c) => (stale ? undefined : c.phase === "Error" ? "error" : c.problems?.length ? "wait" : undefined)}
          sort={sort}
          onSort={(s) => set("sort", sortText(s))}
        />
      )}
    </Page>
  );
}

const byName: Sort = { key: "cluster" };

/** The order in the address: a column, with a minus before it where it is turned round. */
function sortOf(text: string | null): Sort {
  if (!text) return byName;
  return text.startsWith("-") ? { key: text.slice(1), descending: true } : { key: text };
}

function sortText(sort: Sort): string {
  if (sort.key === byName.key && !sort.descending) return "";
  return (sort.descending ? "-" : "") + sort.key;
}

function sum(clusters: readonly { nodes: { ready: number; wanted: number } }[], which: "ready" | "wanted"): number {
  return clusters.reduce((n, c) => n + c.nodes[which], 0);
}

function NoClusters() {
  const t = useTexts("clusters");
  const create = useClusters().data?.can.create;
  const button = (
    <Button icon="plus" to="/clusters/new" answer={create}>
      {t("newCluster")}
    </Button>
  );
  return (
    <Empty title={t("none")} tall actions={button}>
      <p>{t("noneHelp")}</p>
    </Empty>
  );
}

function NoMatch({ onClear }: { onClear: () => void }) {
  const t = useTexts("clusters");
  return (
    <Empty title={t("noMatch")} tall actions={<Button onClick={onClear}>{t("showAll")}</Button>}>
      <p>{t("noMatchHelp")}</p>
    </Empty>
  );
}
