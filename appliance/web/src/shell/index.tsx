import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Outlet, useLocation, useMatches } from "react-router";
import { listen } from "@/api";
import { useEver } from "@/components/popup/ever";
import { useTexts } from "@/i18n";
import type { Handle } from "@/router";
import layout from "@/styles/layout.module.css";
import { Log } from "./Log";
import { Notices } from "./Notices";
import css from "./shell.module.css";
import { Side } from "./Side";
import { Topbar } from "./Topbar";
import { useKeys } from "./useKeys";
import { useKept } from "./kept";

// What opens over the page is loaded when it is first wanted, or when there is nothing else to do.
const palettes = () => import("./Palette");
const Palette = lazy(async () => ({ default: (await palettes()).Palette }));
const KeysDialog = lazy(async () => ({ default: (await import("./KeysDialog")).KeysDialog }));

/** The page around the pages: top bar, tree, sheet and log. The sheet scrolls, this does not. */
export function Component() {
  const t = useTexts("shell");
  const client = useQueryClient();
  useEffect(() => listen(client), [client]);
  useEffect(() => {
    const timer = setTimeout(() => void palettes(), 2000);
    return () => clearTimeout(timer);
  }, []);
  const [sideOpen, setSideOpen] = useState(false);
  const [palette, setPalette] = useState(false);
  const [keysShown, setKeysShown] = useState(false);
  const [width, setWidth] = useKept("tree", 236);
  const log = useLogFold();
  const main = useRef<HTMLElement>(null);
  useArrival(main, () => setSideOpen(false));
  useKeys({ find: () => setPalette(true), log: log.toggle, help: () => setKeysShown(true) });
  return (
    <div className={css.app} ref={(app) => app?.style.setProperty("--side", `${width}px`)}>
      <a className={css.skip} href="#main" onClick={(e) => (e.preventDefault(), main.current?.focus())}>
        {t("skip")}
      </a>
      <Topbar onMenu={() => setSideOpen(true)} onFind={() => setPalette(true)} onKeys={() => setKeysShown(true)} />
      <Side open={sideOpen} onClose={() => setSideOpen(false)} width={width} onWidth={setWidth} />
      <main id="main" className={css.sheet} tabIndex={-1} ref={main}>
        <Notices />
        <Outlet />
      </main>
      <Log folded={log.folded} onToggle={log.toggle} />
      <p className={layout.sr} role="status">
        {useArrived()}
      </p>
      <Suspense>
        {useEver(palette) && <Palette open={palette} onOpenChange={setPalette} onKeys={() => setKeysShown(true)} />}
        {useEver(keysShown) && <KeysDialog open={keysShown} onOpenChange={setKeysShown} />}
      </Suspense>
    </div>
  );
}

/** Whether the log is folded: as the person left it, but folded at first where a page needs the room. */
function useLogFold() {
  const matches = useMatches();
  const needsRoom = matches.some((m) => (m.handle as Handle | undefined)?.foldsLog);
  const narrow = useNarrow();
  const [open, setOpen] = useKept("log.open", true);
  const [opened, setOpened] = useState(false); // on a page that needs the room, or on a phone
  useEffect(() => setOpened(false), [needsRoom]);
  const special = needsRoom || narrow;
  return { folded: special ? !opened : !open, toggle: () => (special ? setOpened(!opened) : setOpen(!open)) };
}

/** Whether the screen is a phone's. */
function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 900px)").matches);
  useEffect(() => {
    const query = matchMedia("(max-width: 900px)");
    const change = () => setNarrow(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return narrow;
}

/** After a page has changed: the drawer closes, and the focus goes to the sheet where it would be lost otherwise. */
function useArrival(main: React.RefObject<HTMLElement | null>, arrive: () => void) {
  const { pathname } = useLocation();
  const first = useRef(true);
  useEffect(() => {
    arrive();
    if (!first.current && (document.activeElement === document.body || !document.activeElement)) main.current?.focus();
    first.current = false;
    // Only the address counts; arrive is new at each drawing.
  }, [pathname]);
}

/** The name of the page that was just opened, for screen readers. */
function useArrived(): string {
  const { pathname } = useLocation();
  const [name, setName] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setName(document.title), 150);
    return () => clearTimeout(timer);
  }, [pathname]);
  return name;
}
