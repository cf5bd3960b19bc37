import { lazy, Suspense } from "react";
import type { Fleet } from "@/api";
import { Advanced, Skeleton } from "@/components";
import { useTexts } from "@/i18n";
import type { NewCluster } from "./useNewCluster";

// Few people open it, so its fields are loaded when somebody does.
const AdvancedFields = lazy(async () => ({ default: (await import("./AdvancedFields")).AdvancedFields }));

/** Everything else that a claim can say, closed at first. */
export function MoreFields({ fleet, model }: { fleet: Fleet; model: NewCluster }) {
  const t = useTexts("newCluster");
  const { form } = model;
  const summary = t("advancedSummary", {
    class: form.class,
    storage: form.storage === "" ? (fleet.storages[0] ?? "") : form.storage,
    nodes: form.nodes.length === 0 ? t("allNodes") : t("someNodes", { n: form.nodes.length }),
  });
  return (
    <Advanced label={t("advanced")} summary={summary}>
      <Suspense fallback={<Skeleton lines={8} />}>
        <AdvancedFields fleet={fleet} model={model} />
      </Suspense>
    </Advanced>
  );
}
