import type { Capacity } from "@/api";
import { BarRow, Bars, Panel, Reason, Stack, useWords } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { isFull, ofTotal, partsOf } from "./parts";

type Storage = Capacity["storages"][number];

/** How full each storage is; one that is shared by the nodes is there once. */
export function StoragePanel({ storages }: { storages: readonly Storage[] }) {
  const t = useTexts("capacity");
  const say = useWords();
  if (storages.length === 0) {
    return (
      <Panel title={t("storage")}>
        <p className={layout.soft}>{t("noStorages")}</p>
      </Panel>
    );
  }
  const nameOf = (s: Storage) => (s.node === undefined || s.node === "" || s.shared ? s.name : t("storageOn", { storage: s.name, node: s.node }));
  const value = (s: Storage) => t("freeOf", { free: ofTotal(say.bytes(s.totalBytes - s.usedBytes), say.bytes(s.totalBytes)), total: say.bytes(s.totalBytes) });
  return (
    <Panel title={t("storage")}>
      <Stack tight>
        <Bars>
          {storages.map((s) => (
            <BarRow key={nameOf(s)} name={nameOf(s)} value={value(s)} label={t("barLabel", { name: nameOf(s), value: value(s) })} parts={partsOf(s)} />
          ))}
        </Bars>
        {storages.filter(isFull).map((s) => (
          <Reason key={nameOf(s)} mark="error">
            {t("storageFull", { storage: nameOf(s) })}
          </Reason>
        ))}
      </Stack>
    </Panel>
  );
}
