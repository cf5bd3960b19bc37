import type { Effect } from "@/api";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import { Icon, type IconName } from "../Icon/Icon";
import { Said } from "../Said/Said";
import { type Column, Table } from "../Table/Table";
import css from "./Plan.module.css";

const icons: Readonly<Record<Effect["action"], IconName>> = { create: "plus", replace: "refresh", delete: "minus", keep: "check" };
const looks: Readonly<Record<Effect["action"], string | undefined>> = { create: css.create, replace: css.replace, delete: css.gone, keep: css.keep };

/** What happens to a machine, as a drawn word. */
export function Act({ action }: { action: Effect["action"] }) {
  const t = useTexts("common");
  const words = { create: t("actCreate"), replace: t("actReplace"), delete: t("actDelete"), keep: t("actKeep") };
  return (
    <span className={cx(css.act, looks[action])}>
      <Icon name={icons[action]} />
      {words[action]}
    </span>
  );
}

/** What a change does to which machine. Kept ones are dimmed. */
export function Plan({ effects }: { effects: readonly Effect[] }) {
  const t = useTexts("common");
  const columns: Column<Effect>[] = [
    { key: "action", head: t("plan"), width: "fit", cell: (e) => <Act action={e.action} /> },
    { key: "machine", head: t("node"), cell: (e) => <b><Said of={e} field="machine" /></b> },
    { key: "why", head: t("why"), cell: (e) => <Said of={e} field="why" /> },
  ];
  return <Table label={t("plan")} rows={effects} rowKey={(e) => String(effects.indexOf(e))} columns={columns} tone={(e) => (e.action === "keep" ? "dim" : undefined)} />;
}

/** The plan in numbers. Zeros are dimmed. extra are further numbers, such as memory. */
export function PlanSum({ effects, extra }: { effects: readonly Effect[]; extra?: readonly string[] }) {
  const t = useTexts("common");
  const count = (action: Effect["action"]) => effects.filter((e) => e.action === action).length;
  const entries = [
    { n: count("create"), say: t.rich("sumCreated", { n: <b>{count("create")}</b> }) },
    { n: count("replace"), say: t.rich("sumReplaced", { n: <b>{count("replace")}</b> }) },
    { n: count("delete"), say: t.rich("sumDeleted", { n: <b>{count("delete")}</b> }) },
    { n: count("keep"), say: t.rich("sumKept", { n: <b>{count("keep")}</b> }) },
  ];
  return (
    <ul className={css.sum}>
      {entries.map((e, i) => (
        <li key={i} className={cx(e.n === 0 && css.none)}>
          <span>{e.say}</span>
        </li>
      ))}
      {extra?.map((e) => (
        <li key={e}>
          <b>{e}</b>
        </li>
      ))}
    </ul>
  );
}
