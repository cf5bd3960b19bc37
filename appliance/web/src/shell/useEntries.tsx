import type { ReactNode } from "react";
import { type Summary, useClusters, useFleet, useSession } from "@/api";
import { type IconName, type MarkKind, markOf, usePhaseWord } from "@/components";
import { useTexts } from "@/i18n";
import { askAddress, clusterAddress } from "./addresses";
import { best, clusterName } from "./find";
import { menuOf } from "./menu";

/** Something that the palette finds: it leads somewhere, or does something. */
export interface Entry {
  key: string;
  label: string;
  icon?: IconName;
  mark?: MarkKind;
  detail?: ReactNode;
  to?: string;
  run?: () => void;
}

export interface Group {
  key: string;
  title: string;
  entries: Entry[];
}

/** What fits the letters typed: clusters, then pages, then actions; of each only the best. Groups without any are left out. */
export function useEntries(typed: string, onKeys: () => void): Group[] {
  const t = useTexts("shell");
  const clusters = useClusters().data?.clusters ?? [];
  const toCluster = useClusterEntry();
  const actionsOf = useActions();
  const found = best(clusters, clusterName, typed, 6);
  const text = (e: Entry) => e.label;
  const actions = [...(typed ? found.slice(0, 2).flatMap(actionsOf) : []), ...best(useGeneral(onKeys), text, typed, 4)];
  const groups: Group[] = [
    { key: "clusters", title: t("clusters"), entries: found.map(toCluster) },
    { key: "pages", title: t("pages"), entries: best(usePages(), text, typed, 6) },
    { key: "actions", title: t("actions"), entries: actions },
  ];
  return groups.filter((g) => g.entries.length > 0);
}

function useClusterEntry(): (c: Summary) => Entry {
  const word = usePhaseWord();
  return (c) => ({ key: `c-${clusterName(c)}`, label: clusterName(c), mark: markOf(c.phase), detail: word(c.phase), to: clusterAddress(c) });
}

/** What may be done to a cluster; what may not is left to its page, which says why. */
function useActions(): (c: Summary) => Entry[] {
  const t = useTexts("shell");
  return (c) => {
    const name = clusterName(c);
    const all: (Entry | false | undefined)[] = [
      c.can.change?.ok && { key: `scale-${name}`, label: t("scaleCluster", { name }), icon: "scale", detail: t("makesCommit"), to: askAddress(c, "scale") },
      c.can.change?.ok && { key: `upgrade-${name}`, label: t("upgradeCluster", { name }), icon: "upgrade", detail: t("makesCommit"), to: askAddress(c, "upgrade") },
      c.can.kubeconfig?.ok && { key: `kubeconfig-${name}`, label: t("kubeconfigOf", { name }), icon: "download", detail: t("isLogged"), to: clusterAddress(c, "access") },
    ];
    return all.filter((e) => Boolean(e)) as Entry[];
  };
}

function usePages(): Entry[] {
  const t = useTexts("shell");
  const [session, fleet] = [useSession(), useFleet().data];
  return menuOf(session, fleet).map((p, i) => ({ key: `p-${p.to}`, label: t(p.text), icon: p.icon, to: p.to, detail: <kbd>{`G ${i + 1}`}</kbd> }));
}

function useGeneral(onKeys: () => void): Entry[] {
  const t = useTexts("shell");
  const create = useClusters().data?.can.create?.ok;
  return [
    ...(create ? [{ key: "new", label: t("newCluster"), icon: "plus" as const, detail: <kbd>N</kbd>, to: "/clusters/new" }] : []),
    { key: "keys", label: t("keys"), icon: "info", detail: <kbd>?</kbd>, run: onKeys },
  ];
}
