import type { Network } from "@/api";
import { AddressStrip, Panel, Reason, Stack } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";

/** A network's addresses: those of nodes, and those of control planes. */
export function NetworkPanel({ network }: { network: Network }) {
  const t = useTexts("capacity");
  const { nodes, endpoints } = network;
  return (
    <Panel title={t("network", { network: network.name })} aside={network.vlan ? t("bridgeVLAN", { bridge: network.bridge, vlan: network.vlan }) : t("bridge", { bridge: network.bridge })}>
      <Stack tight>
        <p className={layout.soft}>{t("subnet", { subnet: network.subnet, gateway: network.gateway })}</p>
        <p>
          <b>{t("nodes")}</b> <span className={layout.soft}>{nodes.free === 0 ? t("rangeFull", { used: nodes.used }) : t("range", { used: nodes.used, free: nodes.free })}</span>
        </p>
        <AddressStrip total={nodes.total} used={nodes.used} />
        <p>
          <b>{t("controlPlanes")}</b>{" "}
          <span className={layout.soft}>
            {endpoints.free === 0 && t("rangeFull", { used: endpoints.used })}
            {endpoints.free > 0 && (endpoints.next ? t("rangeNext", { used: endpoints.used, next: endpoints.next }) : t("range", { used: endpoints.used, free: endpoints.free }))}
          </span>
        </p>
        <AddressStrip total={endpoints.total} used={endpoints.used} />
        {(nodes.free === 0 || endpoints.free === 0) && <Reason mark="pending">{t("fullHelps", { network: network.name })}</Reason>}
      </Stack>
    </Panel>
  );
}
