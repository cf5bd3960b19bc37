import { type ComponentPropsWithRef, type ReactElement, type ReactNode, useId } from "react";
import { Link } from "react-router";
import type { Answer } from "@/api";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { Icon, type IconName } from "../Icon/Icon";
import { Mark } from "../Mark/Mark";
import { useRefusal } from "../Reason/useRefusal";
import { Tooltip } from "../Tooltip/Tooltip";
import css from "./Button.module.css";

export interface ButtonProps extends Omit<ComponentPropsWithRef<"button">, "disabled"> {
  /** primary at most once a page, Ctrl Enter presses it; dangerSolid only where something is deleted. */
  variant?: "primary" | "quiet" | "danger" | "dangerSolid";
  small?: boolean;
  wide?: boolean;
  icon?: IconName;
  /** An icon behind the words, such as "down" where a menu opens. */
  iconEnd?: IconName;
  /** The words of a button that shows its icon alone. */
  label?: string;
  /** Why the button cannot be pressed now. It stays reachable and says so. */
  reason?: string;
  /** The server's answer; its reason is the button's when it is not ok. */
  answer?: Answer;
  /** The id of a visible line that says the reason, in place of a tooltip. */
  reasonId?: string;
  /** Something is under way: the button keeps its place, turns and cannot be pressed again. */
  busy?: boolean;
  /** Makes it a link to a page. */
  to?: string;
}

/** Something that can be pressed. With a reason it is disabled, keeps the focus, and the reason is its description. */
export function Button({ reason, answer, reasonId, busy, to, ...props }: ButtonProps) {
  const own = useId();
  const refusal = useRefusal();
  const why = reason ?? refusal(answer);
  const disabled = why !== undefined || busy;
  const described = why === undefined ? props["aria-describedby"] : (reasonId ?? own);
  if (to !== undefined && !disabled) return <ButtonLink {...props} to={to} />;
  const button = <Pressable {...props} aria-describedby={described} disabled={disabled} busy={busy} />;
  if (!why || reasonId) return button;
  return (
    <>
      <Tooltip text={why}>{button}</Tooltip>
      <span id={own} className={layout.sr}>
        {why}
      </span>
    </>
  );
}

type Look = Pick<ButtonProps, "variant" | "small" | "wide" | "icon" | "iconEnd" | "label" | "className" | "children">;

function looks({ variant, small, wide, icon, label, className }: Look): string {
  return cx(css.button, variant && css[variant], small && css.small, wide && css.wide, icon && label && css.alone, className);
}

function inside({ icon, iconEnd, label, children }: Look, busy?: boolean): ReactNode {
  return (
    <>
      {busy ? <Mark kind="progress" className={css.busy} /> : icon && <Icon name={icon} />}
      {!label && children}
      {iconEnd && <Icon name={iconEnd} small />}
    </>
  );
}

function Pressable({ disabled, busy, ...props }: Omit<ButtonProps, "reason" | "answer" | "to"> & { disabled?: boolean }): ReactElement {
  const { variant: _v, small: _s, wide: _w, icon: _i, iconEnd: _e, label, children: _c, onClick, type = "button", ...rest } = props;
  return (
    <button
      {...rest}
      type={disabled && type === "submit" ? "button" : type}
      className={looks(props)}
      data-variant={props.variant}
      aria-label={label ?? props["aria-label"]}
      aria-disabled={disabled || undefined}
      aria-busy={busy || undefined}
      onClick={disabled ? (event) => event.preventDefault() : onClick}
    >
      {inside(props, busy)}
    </button>
  );
}

function ButtonLink(props: Look & { to: string; "aria-label"?: string; onClick?: unknown }) {
  return (
    <Link to={props.to} className={looks(props)} data-variant={props.variant} aria-label={props.label ?? props["aria-label"]}>
      {inside(props)}
    </Link>
  );
}

/** A button that looks like a link, inside a sentence or beside a form. */
export function TextButton({ className, ...props }: ComponentPropsWithRef<"button">) {
  return <button type="button" {...props} className={cx(css.text, className)} />;
}
