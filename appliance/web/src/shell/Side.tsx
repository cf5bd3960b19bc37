import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import { NavLink, useMatch } from "react-router";
import { useClusters, useFleet, useSession } from "@/api";
import { Button, Count, Icon } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { menuOf } from "./menu";
import css from "./Side.module.css";
import { Tree } from "./Tree";

const [narrowest, widest] = [180, 400];

interface SideProps {
  open: boolean;
  onClose: () => void;
  width: number;
  onWidth: (width: number) => void;
}

/** The menu and the tree of clusters. On a phone it is a drawer. */
export function Side({ open, onClose, width, onWidth }: SideProps) {
  const t = useTexts("shell");
  const side = useRef<HTMLDivElement>(null);
  useDrawer(side, open, onClose);
  return (
    <>
      {open && <button type="button" className={css.cover} tabIndex={-1} aria-hidden="true" onClick={onClose} />}
      <div className={cx(css.side, open && css.open)} ref={side} id="side">
        <div className={cx(css.close, layout.onlyPhone)}>
          <Button variant="quiet" icon="x" label={t("closeTree")} onClick={onClose} />
        </div>
        <Menu />
        <Tree>
          <Edge width={width} onWidth={onWidth} />
        </Tree>
      </div>
    </>
  );
}

function Menu() {
  const t = useTexts("shell");
  const pages = menuOf(useSession(), useFleet().data);
  const clusters = useClusters().data?.clusters;
  const inCluster = useMatch("/clusters/:namespace/:name/*"); // the tree marks it then, not the menu
  const isNew = useMatch("/clusters/new");
  return (
    <nav aria-label={t("menu")}>
      <ul className={css.menu} data-arrows="column">
        {pages.map((p) => (
          <li key={p.to}>
            <NavLink
              to={p.to}
              end={p.to === "/"}
              aria-current={p.to === "/clusters" && inCluster && !isNew ? false : undefined}
              className={({ isActive }) => cx(css.page, isActive && !(p.to === "/clusters" && inCluster && !isNew) && css.current)}
            >
              <Icon name={p.icon} />
              {t(p.text)}
              {p.to === "/clusters" && clusters && <Count>{clusters.length}</Count>}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The edge between tree and sheet, which can be dragged, or moved with the arrow keys. */
function Edge({ width, onWidth }: Pick<SideProps, "width" | "onWidth">) {
  const t = useTexts("shell");
  const set = (w: number) => onWidth(Math.round(Math.min(widest, Math.max(narrowest, w))));
  const drag = (e: PointerEvent<HTMLDivElement>) => e.currentTarget.hasPointerCapture(e.pointerId) && set(e.clientX);
  const key = (e: KeyboardEvent) => {
    const step = { ArrowLeft: -16, ArrowRight: 16 }[e.key];
    if (step) set(width + step);
  };
  return (
    <div
      className={css.edge}
      role="separator"
      aria-orientation="vertical"
      aria-label={t("treeWidth")}
      aria-valuenow={width}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      tabIndex={0}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={drag}
      onKeyDown={key}
    />
  );
}

/** While the drawer is open it has the focus, and Esc closes it; afterwards the focus goes back. */
function useDrawer(side: React.RefObject<HTMLElement | null>, open: boolean, onClose: () => void) {
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    if (!open) return;
    const before = document.activeElement as HTMLElement | null;
    const others = [...(side.current?.parentElement?.children ?? [])].filter((e): e is HTMLElement => e instanceof HTMLElement && e !== side.current && !e.matches(`.${css.cover}`));
    for (const e of others) e.inert = true;
    side.current?.querySelector<HTMLElement>("a")?.focus();
    const key = (e: globalThis.KeyboardEvent) => e.key === "Escape" && close.current();
    addEventListener("keydown", key);
    return () => {
      removeEventListener("keydown", key);
      for (const e of others) e.inert = false;
      before?.focus();
    };
  }, [open, side]);
}
