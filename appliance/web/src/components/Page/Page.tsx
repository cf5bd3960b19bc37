import { type ReactNode, useEffect } from "react";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import { Breadcrumb, type Crumb } from "../Breadcrumb/Breadcrumb";
import css from "./Page.module.css";

export interface PageProps {
  /** The h1, and the name of the window. */
  title: ReactNode;
  /** The window's name where the title is not text, or not enough. */
  windowTitle?: string;
  crumbs?: readonly Crumb[];
  /** Beside the title. */
  badge?: ReactNode;
  /** One quiet sentence below the title. */
  lede?: ReactNode;
  /** Buttons at the right of the head. */
  tools?: ReactNode;
  /** A whole line of controls below the head, such as a filter. */
  line?: ReactNode;
  /** The tabs, below the head. */
  tabs?: ReactNode;
  /** A banner over the page's whole width, above its head. */
  banner?: ReactNode;
  /** The bar at the foot, with the buttons of a form. */
  foot?: ReactNode;
  /** The content touches the edges: tables, empty pages. */
  flush?: boolean;
  /** The head and the content have no line between them, as on Home. */
  close?: boolean;
  /** What the scroll area is called where its content has no name. */
  scrollLabel?: string;
  children: ReactNode;
}

/** The sheet of a page: it scrolls, its head and foot do not. */
export function Page({ title, windowTitle, crumbs, badge, lede, tools, line, tabs, banner, foot, flush, close, scrollLabel, children }: PageProps) {
  const t = useTexts("common");
  const lined = !tabs && !line && !close;
  const name = windowTitle ?? (typeof title === "string" ? title : undefined);
  useEffect(() => {
    document.title = name ? t("windowTitle", { page: name }) : t("product");
  }, [name, t]);
  return (
    <>
      {banner}
      <div className={css.head}>
        <div className={css.text}>
          {crumbs && <Breadcrumb crumbs={crumbs} />}
          <div className={css.title}>
            <h1>{title}</h1>
            {badge}
          </div>
          {lede && <p className={css.lede}>{lede}</p>}
        </div>
        {tools && <div className={css.tools}>{tools}</div>}
      </div>
      {line && <div className={css.line}>{line}</div>}
      {tabs}
      <div className={cx(css.scroll, lined && css.lined)} tabIndex={0} role={scrollLabel ? "group" : undefined} aria-label={scrollLabel} data-scroll>
        {flush ? children : <div className={cx(css.body, close && css.close)}>{children}</div>}
      </div>
      {foot}
    </>
  );
}
