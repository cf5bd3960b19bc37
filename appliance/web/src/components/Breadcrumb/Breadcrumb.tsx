import { Fragment } from "react";
import { Link } from "react-router";
import { useTexts } from "@/i18n";
import { Icon } from "../Icon/Icon";
import css from "./Breadcrumb.module.css";

export interface Crumb {
  label: string;
  /** Left out for the page itself, which comes last. */
  to?: string;
}

/** Where the page is, from the outside in. */
export function Breadcrumb({ crumbs }: { crumbs: readonly Crumb[] }) {
  const t = useTexts("common");
  return (
    <nav className={css.crumbs} aria-label={t("breadcrumb")}>
      {crumbs.map((c, i) => (
        <Fragment key={i}>
          {i > 0 && <Icon name="right" />}
          {c.to ? <Link to={c.to}>{c.label}</Link> : <span aria-current="page">{c.label}</span>}
        </Fragment>
      ))}
    </nav>
  );
}
