import { Collapsible } from "@base-ui/react/collapsible";
import type { ReactNode } from "react";
import { Icon } from "../Icon/Icon";
import css from "./Advanced.module.css";

/** What few people need, closed at first. summary says its present values in one line. */
export function Advanced({ label, summary, children, open }: { label: string; summary: string; children: ReactNode; /** Open at first. */ open?: boolean }) {
  return (
    <Collapsible.Root className={css.more} defaultOpen={open}>
      <Collapsible.Trigger className={css.summary}>
        <Icon name="right" />
        {label}
        <small>{summary}</small>
      </Collapsible.Trigger>
      <Collapsible.Panel className={css.panel}>{children}</Collapsible.Panel>
    </Collapsible.Root>
  );
}
