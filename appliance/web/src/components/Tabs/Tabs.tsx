import { NavLink } from "react-router";
import { Count } from "../Tag/Tag";
import css from "./Tabs.module.css";

export interface TabLink {
  to: string;
  label: string;
  count?: number;
  /** Current only at exactly this address, not below it. */
  end?: boolean;
}

/** The parts of a thing, each a page with its own address. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  return (
    <nav className={css.tabs} aria-label={label} data-arrows="row">
      {tabs.map((tab) => (
        <NavLink key={tab.to} to={tab.to} end={tab.end} className={css.tab}>
          {tab.label}
          {tab.count !== undefined && <Count>{tab.count}</Count>}
        </NavLink>
      ))}
    </nav>
  );
}
