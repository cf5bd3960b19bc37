import { Fragment, type ReactNode } from "react";
import { Link } from "react-router";
import type { Detail, MachineSize } from "@/api";
import { Facts, Panel, Sha, useWords } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress, commitAddress } from "@/shell/addresses";
import layout from "@/styles/layout.module.css";
import { bytesOf, workerPools } from "../quantity";

/** What Git wants of a cluster, in short. */
export function AskedFor({ cluster }: { cluster: Detail }) {
  const t = useTexts("cluster");
  const say = useWords();
  const { resources, allocation, pending } = cluster;
  const version = cluster.version !== undefined && cluster.version !== "" && cluster.version !== cluster.wantedVersion;
  return (
    <Panel title={t("askedFor")} aside={<Link to={clusterAddress(cluster, "file")}>{t("file")}</Link>}>
      <Facts
        facts={[
          [
            t("version"),
            version ? t("versionMoves", { version: cluster.version ?? "", wanted: cluster.wantedVersion }) : t("versionClass", { version: cluster.wantedVersion, class: cluster.class }),
          ],
          [t("nodesFact"), <Machines key="nodes" cluster={cluster} />],
          [t("network"), cluster.network],
          cluster.endpoint !== "" && [t("api"), <span key="api" className={layout.mono}>{`${cluster.endpoint}:6443`}</span>],
          cluster.spec?.storage !== undefined && [t("storage"), cluster.spec.storage],
          cluster.owner !== undefined && [t("owner"), cluster.owner],
          resources !== undefined && [
            t("inAll"),
            t("inAllNumbers", { vms: resources.vms, cpu: resources.cpu, memory: say.bytes(resources.memoryBytes), disk: say.bytes(resources.diskBytes) }),
          ],
          allocation !== undefined && allocation.addresses.length > 0 && [t("addresses"), <Lines key="addresses" lines={allocation.addresses} mono />],
          allocation !== undefined && [t("vmIDs"), t("vmIDRange", { start: allocation.vmIDs.start, end: allocation.vmIDs.end })],
          pending !== undefined && [t("commit"), <Sha key="commit" commit={pending.commit} to={commitAddress(pending.commit)} />],
        ]}
      />
    </Panel>
  );
}

function Lines({ lines, mono }: { lines: readonly ReactNode[]; mono?: boolean }) {
  return (
    <span className={mono ? layout.mono : undefined}>
      {lines.map((line, i) => (
        <Fragment key={i}>
          {i > 0 && <br />}
          {line}
        </Fragment>
      ))}
    </span>
  );
}

function Machines({ cluster }: { cluster: Detail }) {
  const t = useTexts("cluster");
  const size = useSizeWords();
  if (cluster.spec === undefined) {
    return <>{t("nodesReady", { ready: cluster.nodes.ready, wanted: cluster.nodes.wanted })}</>;
  }
  const { replicas, ...machine } = cluster.spec.controlPlane;
  const pools = workerPools(cluster.spec);
  const lines = pools.map((p) =>
    p.place === "spec.workers" ? t("workerNodes", { n: p.replicas, size: size(p) }) : t("poolNodes", { n: p.replicas, pool: p.name, size: size(p) }),
  );
  return <Lines lines={[t("controlPlaneNodes", { n: replicas, size: size(machine) }), ...lines]} />;
}

/** useSizeWords says how large a machine is: the Fleet's word for it, or its numbers. */
export function useSizeWords(): (machine: MachineSize) => string {
  const t = useTexts("cluster");
  const say = useWords();
  return (m) =>
    m.size !== undefined && m.size !== ""
      ? m.size
      : t("ownSize", { cpu: m.cpu ?? 0, memory: say.bytes(bytesOf(m.memory)), disk: say.bytes(bytesOf(m.disk)) });
}
