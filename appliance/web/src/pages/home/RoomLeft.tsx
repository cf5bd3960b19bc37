import { Link } from "react-router";
import { type Capacity, type Network, useCapacity, useFleet } from "@/api";
import { BarRow, Bars, type BarPart, Mark, Panel, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { low, room, type Room } from "./room";

/** How much room is left, of what the person may see in Proxmox VE. */
export function RoomLeft() {
  const t = useTexts("home");
  const [capacity, fleet] = [useCapacity().data, useFleet().data];
  const networks = capacity?.networks ?? fleet?.networks ?? [];
  const rows = [...useMachines(capacity), ...useStorages(capacity), ...useNetworks(networks)];
  if (rows.length === 0) return null;
  return (
    <Panel title={t("roomLeft")} aside={<Link to="/capacity">{t("capacity")}</Link>}>
      <Bars layout="side">
        {rows.map((r) => (
          <BarRow key={r.name} name={r.name} value={<Value text={r.free} warn={r.warn} />} label={r.label} parts={r.parts} />
        ))}
      </Bars>
    </Panel>
  );
}

interface Row {
  name: string;
  free: string;
  label: string;
  parts: BarPart[];
  warn?: boolean;
}

function Value({ text, warn }: { text: string; warn?: boolean }) {
  return warn ? (
    <>
      <Mark kind="pending" /> {text}
    </>
  ) : (
    text
  );
}

function partsOf(r: Room): BarPart[] {
  const kind = low(r) ? (r.free === 0 ? "full" : "low") : "used";
  return [
    { kind, share: r.ours / r.total },
    { kind: kind === "used" ? "other" : kind, share: r.others / r.total },
  ];
}

function useMachines(capacity: Capacity | undefined): Row[] {
  const t = useTexts("home");
  const say = useWords();
  const online = capacity?.nodes.filter((n) => n.online) ?? [];
  if (online.length === 0) return [];
  const memory = room(online.map((n) => ({ total: n.memory.totalBytes, used: n.memory.usedBytes, ours: n.memory.kubehengeBytes })));
  const cpu = room(online.map((n) => ({ total: n.cpu.total, used: n.cpu.used, ours: 0 })));
  const rows: Row[] = [
    {
      name: t("memory"),
      free: t("free", { size: say.bytes(memory.free) }),
      label: t("memoryUsed", { used: say.bytes(memory.total - memory.free), total: say.bytes(memory.total) }),
      parts: partsOf(memory),
    },
    {
      name: t("cpu"),
      free: t("free", { size: say.number(Math.floor(cpu.free)) }),
      label: t("cpuUsed", { used: say.number(Math.ceil(cpu.total - cpu.free)), total: say.number(cpu.total) }),
      parts: [{ kind: "used", share: (cpu.total - cpu.free) / cpu.total }],
    },
  ];
  return rows.filter((_, i) => [memory, cpu][i]!.total > 0);
}

/** A storage that is not shared counts on each of its nodes. */
function useStorages(capacity: Capacity | undefined): Row[] {
  const t = useTexts("home");
  const say = useWords();
  const names = [...new Set(capacity?.storages.map((s) => s.name))];
  return names
    .map((name) => {
      const of = capacity!.storages.filter((s) => s.name === name);
      const counted = of[0]!.shared ? of.slice(0, 1) : of;
      return { name, r: room(counted.map((s) => ({ total: s.totalBytes, used: s.usedBytes, ours: s.kubehengeBytes }))) };
    })
    .filter(({ r }) => r.total > 0)
    .slice(0, 3)
    .map(({ name, r }) => ({
      name: t("storage", { name }),
      free: t("free", { size: say.bytes(r.free) }),
      label: t("storageUsed", { name, used: say.bytes(r.total - r.free), total: say.bytes(r.total) }),
      parts: partsOf(r),
      warn: low(r),
    }));
}

function useNetworks(networks: readonly Network[]): Row[] {
  const t = useTexts("home");
  const say = useWords();
  return networks
    .filter((n) => n.nodes.total > 0)
    .slice(0, 4)
    .map((n) => {
      const r = room([{ total: n.nodes.total, used: n.nodes.used, ours: n.nodes.used }]);
      return {
        name: t("addresses", { network: n.name }),
        free: t("free", { size: say.number(n.nodes.free) }),
        label: t("addressesUsed", { network: n.name, used: say.number(n.nodes.used), total: say.number(n.nodes.total) }),
        parts: partsOf(r),
        warn: low(r),
      };
    });
}
