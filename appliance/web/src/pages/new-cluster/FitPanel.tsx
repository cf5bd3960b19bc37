import { type Fleet, useCapacity } from "@/api";
import { BarRow, Bars, FitLine, Legend, Panel, Said, Stack, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { needsOf, numbersOf } from "../quantity";
import { type NewClusterForm, sizeOf, specOf } from "./form";
import css from "./NewCluster.module.css";
import { freeOf, machinesOf, type Share, spread } from "./spread";
import type { NewCluster } from "./useNewCluster";

/** What the cluster needs, whether it fits, and how much would stay free on each Proxmox VE node. */
export function FitPanel({ fleet, model }: { fleet: Fleet; model: NewCluster }) {
  const t = useTexts("newCluster");
  const say = useWords();
  const { preview } = model;
  const needs = needsOf(specOf(model.form), fleet.sizes);
  const shares = useShares(fleet, model.form);
  return (
    <Panel flush>
      <Verdict model={model} fleet={fleet} />
      <div className={css.fit}>
        <Stack tight>
          {shares.length > 0 && (
            <Bars layout="node">
              {shares.map((s) => (
                <ShareRow key={s.name} share={s} />
              ))}
            </Bars>
          )}
          <div className={css.foot}>
            {shares.length > 0 && (
              <Legend
                entries={[
                  { kind: "used", label: t("used") },
                  { kind: "new", label: t("thisCluster") },
                  { kind: "free", label: t("freeMemory") },
                ]}
              />
            )}
            <span className={cx(layout.small, layout.soft)}>{t("needs", { cpu: preview?.needs?.cpu ?? needs.cpu, disk: say.bytes(preview?.needs?.diskBytes ?? needs.diskBytes) })}</span>
          </div>
        </Stack>
      </div>
    </Panel>
  );
}

/** The server's sentence. Before it has one, what the form itself can say. */
function Verdict({ model, fleet }: { model: NewCluster; fleet: Fleet }) {
  const t = useTexts("newCluster");
  const say = useWords();
  const { preview } = model;
  if (preview?.fit !== undefined) {
    return <FitLine ok={preview.fit.ok} message={<Said of={preview.fit} field="message" whole />} />;
  }
  if (preview === undefined && model.previewError === null) {
    return <FitLine ok={undefined} message={t("looking")} />;
  }
  const needs = needsOf(specOf(model.form), fleet.sizes);
  return <FitLine ok={undefined} message={t("needsAll", { n: needs.vms, memory: say.bytes(needs.memoryBytes), addresses: needs.vms + 1 })} />;
}

/** Only nodes that the cluster may use count; who may not see Proxmox VE's nodes has no bars. */
function useShares(fleet: Fleet, form: NewClusterForm): Share[] {
  const nodes = useCapacity().data?.nodes ?? [];
  const allowed = form.nodes.length > 0 ? form.nodes : fleet.nodes;
  const parts = [form.controlPlane, ...form.pools].map((p) => ({ replicas: p.replicas, one: numbersOf(sizeOf(p.machine), fleet.sizes) }));
  return spread(
    nodes.filter((n) => allowed.length === 0 || allowed.includes(n.name)),
    machinesOf(parts),
  );
}

function ShareRow({ share }: { share: Share }) {
  const t = useTexts("newCluster");
  const say = useWords();
  const free = freeOf(share);
  const value = free < 0 ? t("tooFull", { missing: say.bytes(-free) }) : t("stayFree", { free: say.bytes(free) });
  return (
    <BarRow
      name={share.name}
      value={value}
      label={t("barLabel", { name: share.name, value })}
      parts={[
        { kind: "used", share: share.usedBytes / share.totalBytes },
        { kind: free < 0 ? "full" : "new", share: share.newBytes / share.totalBytes },
      ]}
    />
  );
}
