import { type Node, useCapacity } from "@/api";
import { Rack, Said, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { freeOf, rackOf, shortName } from "./rack";

/** Where a cluster's VMs are, a column a Proxmox VE node, with the memory that is free there as far as the person may see it. */
export function ClusterRack({ cluster, nodes }: { cluster: string; nodes: readonly Node[] }) {
  const t = useTexts("clusterNodes");
  const say = useWords();
  const known = useCapacity().data?.nodes;
  const note = (name: string) => {
    const free = freeOf(known?.find((n) => n.name === name)?.memory);
    return free === undefined ? undefined : t("free", { free: say.bytes(free) });
  };
  return (
    <Rack
      nodes={rackOf(nodes).map((shelf) => ({
        name: shelf.node === "" ? t("noPlace") : shelf.node,
        note: note(shelf.node),
        vms: shelf.machines.map((m) => ({
          name: shortName(cluster, m.name),
          detail: m.vmid === undefined || m.vmid === 0 ? <Said of={m} field="phase" /> : t("vmNumber", { vmid: m.vmid }),
          state: m.ready ? "ready" : m.phase === "Failed" ? "error" : "new",
        })),
      }))}
    />
  );
}
