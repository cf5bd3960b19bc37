import { type Capacity, useCapacity, useFleet } from "@/api";
import { Failed, Page, Skeleton, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { sizeOf } from "../new-cluster/form";
import { presetsOf } from "../new-cluster/presets";
import { numbersOf } from "../quantity";
import { MemoryPanel } from "./MemoryPanel";
import { NetworkPanel } from "./NetworkPanel";
import { isSeen } from "./parts";
import { StoragePanel } from "./StoragePanel";
import { UsagePanel } from "./UsagePanel";

/** What is used and what is free: memory, storage and addresses, and which namespaces use it. */
export function Component() {
  const t = useTexts("capacity");
  const query = useCapacity();
  const { data: capacity } = query;
  return (
    <Page title={t("title")} windowTitle={t("crumb")} crumbs={[{ label: t("home"), to: "/" }, { label: t("crumb") }]} lede={capacity !== undefined && <Lede capacity={capacity} />}>
      {capacity !== undefined && <Parts capacity={capacity} />}
      {capacity === undefined && (query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />)}
    </Page>
  );
}

/** The free memory of the nodes that are online, and how many clusters of the usual size that is. */
function Lede({ capacity }: { capacity: Capacity }) {
  const t = useTexts("capacity");
  const say = useWords();
  const sizes = useFleet().data?.sizes ?? [];
  const free = capacity.nodes.filter((n) => n.online).reduce((sum, n) => sum + Math.max(0, n.memory.totalBytes - n.memory.usedBytes), 0);
  if (!capacity.nodes.some(isSeen)) {
    return <>{t("seeHint")}</>;
  }
  const standard = presetsOf(sizes).find((p) => p.name === "standard");
  const one = standard && [standard.controlPlane, standard.workers].reduce((sum, part) => sum + part.replicas * numbersOf(sizeOf(part.machine), sizes).memoryBytes, 0);
  const short = capacity.networks.filter((n) => n.nodes.free < few || n.endpoints.free === 0);
  return (
    <>
      {one ? t("ledeMore", { free: say.bytes(free), n: Math.floor(free / one) }) : t("lede", { free: say.bytes(free) })}
      {short.map((n) => (
        <span key={n.name}> {t("short", { network: n.name })}</span>
      ))}
    </>
  );
}

/** Fewer free addresses than a standard cluster takes is short. */
const few = 5;

function Parts({ capacity }: { capacity: Capacity }) {
  const t = useTexts("capacity");
  return (
    <div className={layout.stack}>
      <div className={cx(layout.cols, layout.colsEven)}>
        <MemoryPanel nodes={capacity.nodes} />
        <StoragePanel storages={capacity.storages} />
      </div>
      {capacity.networks.length === 0 ? (
        <p className={layout.soft}>{t("noNetworks")}</p>
      ) : (
        <div className={cx(layout.cols, layout.colsEven)}>
          {capacity.networks.map((n) => (
            <NetworkPanel key={n.name} network={n} />
          ))}
        </div>
      )}
      {capacity.usage.length > 0 && <UsagePanel usage={capacity.usage} />}
      <p className={cx(layout.soft, layout.small)}>{t("seeHint")}</p>
    </div>
  );
}
