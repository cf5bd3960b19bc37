import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { Button } from "../Button/Button";
import { Menu, type MenuItem } from "../Menu/Menu";
import css from "./Toolbar.module.css";

/** An action of a page: a button on a wide screen, and beyond the first two an item under "More" on a phone. */
export interface Action extends MenuItem {
  variant?: "primary" | "danger";
  busy?: boolean;
  /** A gap before it. */
  apart?: boolean;
}

/** How many actions a phone shows as buttons. */
const first = 2;

/** The actions of a page, with a reason where one cannot be taken now. */
export function Toolbar({ label, actions }: { label: string; actions: readonly Action[] }) {
  const t = useTexts("common");
  return (
    <div className={css.toolbar} role="group" aria-label={label} data-arrows="row">
      {actions.map((a, i) => (
        <span key={a.key} className={cx(css.action, i >= first && layout.wide)}>
          {a.apart && <span className={cx(css.apart, layout.wide)} aria-hidden="true" />}
          <ActionButton action={a} />
        </span>
      ))}
      {actions.length > first && (
        <span className={layout.onlyPhone}>
          <Menu trigger={<Button iconEnd="down">{t("moreActions")}</Button>} items={actions.slice(first)} />
        </span>
      )}
    </div>
  );
}

function ActionButton({ action: a }: { action: Action }) {
  const { variant = a.danger ? "danger" : undefined } = a;
  return (
    <Button variant={variant} icon={a.icon} to={a.to} onClick={a.onSelect} reason={a.reason} answer={a.answer} busy={a.busy}>
      {a.label}
    </Button>
  );
}
