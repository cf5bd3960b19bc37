import { Menu as Base } from "@base-ui/react/menu";
import { cloneElement, Fragment } from "react";
import { Link } from "react-router";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import { layer } from "../popup/layer";
import popup from "../popup/popup.module.css";
import { useRefusal } from "../Reason/useRefusal";
import type { MenuItem, MenuProps } from "./Menu";

/** The menu once somebody has opened it: it comes open, and its button takes over the focus of the one that was pressed. */
export function OpenMenu({ trigger, items, head, align = "end" }: MenuProps) {
  return (
    <Base.Root defaultOpen>
      <Base.Trigger render={cloneElement(trigger, { autoFocus: true })} />
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
  const refusal = useRefusal();
  const why = item.reason ?? refusal(item.answer);
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
