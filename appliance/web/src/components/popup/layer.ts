import type { RefObject } from "react";

/** Where lists and menus are drawn: inside the banner, so that they belong to a landmark. Before there is a banner they are drawn at the end of the page. */
export const layer: RefObject<HTMLDivElement | null> = { current: null };
