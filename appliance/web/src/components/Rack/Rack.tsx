import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import { Icon } from "../Icon/Icon";
import css from "./Rack.module.css";

export interface RackNode {
  name: string;
  /** Small at the right, such as the memory that is free. */
  note?: string;
  vms: readonly { name: string; detail: ReactNode; state?: "ready" | "new" | "error" }[];
}

/** Where the VMs are: a column a Proxmox VE node. */
export function Rack({ nodes, none }: { nodes: readonly RackNode[]; none?: string }) {
  return (
    <ul className={css.rack}>
      {nodes.map((n) => (
        <li key={n.name} className={css.node}>
          <p className={css.name}>
            <Icon name="node" />
            {n.name}
            {n.note && <small>{n.note}</small>}
          </p>
          <ul className={css.vms}>
            {n.vms.map((vm) => (
              <li key={vm.name} className={cx(css.vm, vm.state === "new" && css.new, vm.state === "error" && css.error)}>
                <b>{vm.name}</b>
                {vm.detail}
              </li>
            ))}
            {n.vms.length === 0 && none && <li className={css.none}>{none}</li>}
          </ul>
        </li>
      ))}
    </ul>
  );
}
