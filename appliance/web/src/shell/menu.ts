import type { Fleet, Session } from "@/api";
import type { IconName } from "@/components";
import type { Texts } from "@/i18n";

/** A page of the menu. Whoever may not see what it shows does not see it here either. */
export interface MenuPage {
  to: string;
  icon: IconName;
  text: "home" | "clusters" | "capacity" | "repository" | "audit";
}

/** The menu's texts are keys of the shell's section; this keeps them so. */
export type ShellText = keyof Texts["shell"];

/** The pages that a person has, in the order of the menu, which is that of G and a number too. */
export function menuOf(session: Session, fleet: Pick<Fleet, "can"> | undefined): MenuPage[] {
  const may = { repository: fleet?.can.repository?.ok ?? false, audit: (fleet?.can.audit ?? session.can?.audit)?.ok ?? false };
  const pages: (MenuPage | false)[] = [
    { to: "/", icon: "home", text: "home" },
    { to: "/clusters", icon: "cluster", text: "clusters" },
    { to: "/capacity", icon: "capacity", text: "capacity" },
    may.repository && { to: "/repository", icon: "repository", text: "repository" },
    may.audit && { to: "/audit", icon: "audit", text: "audit" },
  ];
  return pages.filter((p) => p !== false);
}
