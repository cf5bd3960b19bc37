import type { Fleet } from "@/api";
import { Button, Field, Input, NumberInput } from "@/components";
import { useTexts } from "@/i18n";
import { freePoolName, machineOf, type PoolForm } from "./form";
import { MachineFields } from "./MachineFields";
import css from "./NewCluster.module.css";
import { problemAt } from "./problems";
import type { NewCluster } from "./useNewCluster";

/** mostPools is how many worker pools a claim may have, and mostNodes how many nodes one of them. */
const mostPools = 20;
const mostNodes = 500;

/** The worker pools: each with its name, its number of nodes and their size. */
export function PoolFields({ fleet, model }: { fleet: Fleet; model: NewCluster }) {
  const t = useTexts("newCluster");
  const { pools } = model.form;
  const change = (key: string, to: Partial<PoolForm>) => model.change({ pools: pools.map((p) => (p.key === key ? { ...p, ...to } : p)) });
  const add = () => {
    const name = freePoolName(pools);
    const machine = pools.at(-1)?.machine ?? machineOf(fleet.sizes[0]);
    model.change({ pools: [...pools, { key: crypto.randomUUID(), name, replicas: 1, machine }] });
  };
  return (
    <fieldset className={css.set}>
      <legend>{t("pools")}</legend>
      {pools.map((pool, i) => (
        <div key={pool.key} className={css.pool}>
          <div className={css.poolHead}>
            <Field label={t("poolName")}>
              <Input value={pool.name} onChange={(e) => change(pool.key, { name: e.target.value })} />
            </Field>
            <Field label={t("poolNodes")}>
              <NumberInput value={pool.replicas} min={0} max={mostNodes} onChange={(replicas) => replicas !== null && change(pool.key, { replicas })} />
            </Field>
            <Button variant="quiet" icon="trash" label={t("removePool", { pool: pool.name })} onClick={() => model.change({ pools: pools.filter((p) => p.key !== pool.key) })} />
          </div>
          <MachineFields
            label={t("poolMachine", { pool: pool.name })}
            fleet={fleet}
            machine={pool.machine}
            error={problemAt(model.problems, `spec.pools[${i}]`) ?? (pools.length === 1 ? problemAt(model.problems, "spec.workers") : undefined)}
            onChange={(machine) => change(pool.key, { machine })}
          />
        </div>
      ))}
      {pools.length < mostPools && (
        <div>
          <Button small icon="plus" onClick={add}>
            {t("addPool")}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
