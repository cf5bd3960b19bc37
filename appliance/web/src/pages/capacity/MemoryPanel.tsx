import type { Capacity } from "@/api";
import { BarRow, Bars, Legend, Panel, Stack, useWords } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { isSeen, ofTotal, partsOf } from "./parts";

/** The memory of each Proxmox VE node: what clusters use, what others use, and what is free. */
export function MemoryPanel({ nodes: all }: { nodes: Capacity["nodes"] }) {
  const t = useTexts("capacity");
  const say = useWords();
  const nodes = all.filter(isSeen);
  const offline = nodes.filter((n) => !n.online).length;
  if (nodes.length === 0) {
    return (
      <Panel title={t("memory")}>
        <p className={layout.soft}>{t("noNodes")}</p>
      </Panel>
    );
  }
  const value = ({ online, memory }: Capacity["nodes"][number]) =>
    online ? t("freeOf", { free: ofTotal(say.bytes(memory.totalBytes - memory.usedBytes), say.bytes(memory.totalBytes)), total: say.bytes(memory.totalBytes) }) : t("offline");
  return (
    <Panel title={t("memory")} aside={offline === 0 ? t("allOnline") : t("someOffline", { n: offline })}>
      <Stack tight>
        <Bars>
          {nodes.map((n) => (
            <BarRow key={n.name} name={n.name} value={value(n)} label={t("barLabel", { name: n.name, value: value(n) })} parts={n.online ? partsOf(n.memory) : []} />
          ))}
        </Bars>
        <Legend
          entries={[
            { kind: "used", label: t("clusters") },
            { kind: "other", label: t("otherGuests") },
            { kind: "free", label: t("free") },
          ]}
        />
      </Stack>
    </Panel>
  );
}
