import { Menu as Base } from "@base-ui/react/menu";
import { Fragment, type ReactElement, type ReactNode } from "react";
import { Link } from "react-router";
import type { Answer } from "@/api";
import { cx } from "@/styles/classes";
import { reasonOf } from "../Button/Button";
import { Icon, type IconName } from "../Icon/Icon";
import { layer } from "../popup/layer";
import popup from "../popup/popup.module.css";

export interface MenuItem {
  key: string;
  label: string;
  icon?: IconName;
  /** Small at the right, such as the present value or a key. */
  detail?: ReactNode;
  to?: string;
  onSelect?: () => void;
  /** Why it cannot be chosen; it stays reachable and says so. */
  reason?: string;
  answer?: Answer;
  danger?: boolean;
  /** Chosen now, among several; draws a check. */
  checked?: boolean;
  /** Stays open, so that several things can be switched. */
  stays?: boolean;
  /** A line above it. */
  ruled?: boolean;
}

/** A list of actions that opens from a button, which is given as trigger. head is words above the items. */
export function Menu({ trigger, items, head, align = "end" }: {
  trigger: ReactElement;
  items: readonly MenuItem[];
  head?: ReactNode;
  align?: "start" | "end";
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal container={layer}>
        <Base.Positioner className={popup.place} sideOffset={4} align={align}>
          <Base.Popup className={popup.popup}>
            {head}
            {items.map((item) => (
              <Fragment key={item.key}>
                {item.ruled && <Base.Separator className={popup.rule} />}
                <Item item={item} />
              </Fragment>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Item({ item }: { item: MenuItem }) {
  const why = item.reason ?? reasonOf(item.answer);
  const className = cx(popup.item, item.danger && why === undefined && popup.danger);
  const inside = (
    <>
      {item.icon && <Icon name={item.icon} />}
      <span className={popup.words}>
        {item.label}
        {why && <span className={popup.why}>{why}</span>}
      </span>
      {item.detail && <span className={popup.detail}>{item.detail}</span>}
    </>
  );
  if (item.checked !== undefined) {
    return (
      <Base.CheckboxItem className={className} checked={item.checked} onCheckedChange={() => item.onSelect?.()} closeOnClick={!item.stays}>
        {inside}
        <Base.CheckboxItemIndicator className={popup.check}>
          <Icon name="check" small />
        </Base.CheckboxItemIndicator>
      </Base.CheckboxItem>
    );
  }
  if (item.to !== undefined && why === undefined) {
    return (
      <Base.LinkItem className={className} closeOnClick render={<Link to={item.to} />}>
        {inside}
      </Base.LinkItem>
    );
  }
  return (
    <Base.Item className={className} disabled={why !== undefined} closeOnClick={!item.stays} onClick={() => item.onSelect?.()}>
      {inside}
    </Base.Item>
  );
}
