import { type Answer, type Detail, type Need, useKubeconfig } from "@/api";
import { Banner, Button, Failed, Icon, Panel, Reason, Stack, Table, useDone, useRefusal } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { useClusterPage } from "../cluster/context";
import { useClusterPool } from "../cluster/pool";
import { AskForPrivileges } from "../not-found/AskForPrivileges";
import css from "./Access.module.css";
import { ShareIt } from "./ShareIt";
import { Terminal } from "./Terminal";

/** Who may do what with the cluster, its kubeconfig, and the same at the terminal. */
export function Component() {
  const { cluster } = useClusterPage();
  const pool = useClusterPool(cluster);
  const missing = missingOf(cluster);
  return (
    <div className={layout.stack}>
      <Lacking cluster={cluster} />
      <div className={cx(layout.cols, layout.colsEven)}>
        <div className={layout.stack}>
          <YouHave cluster={cluster} pool={pool} />
          {missing.length > 0 ? <AskForPrivileges missing={missing} /> : <ShareIt pool={pool} />}
        </div>
        <div className={layout.stack}>
          <KubeconfigPanel cluster={cluster} />
          <Terminal cluster={cluster} />
        </div>
      </div>
    </div>
  );
}

function missingOf(cluster: Detail): Need[] {
  const all = [cluster.can.change, cluster.can.kubeconfig].flatMap((a) => a?.missing ?? []);
  return all.filter((n, i) => all.findIndex((o) => o.path === n.path && o.privilege === n.privilege) === i);
}

function Lacking({ cluster }: { cluster: Detail }) {
  const t = useTexts("clusterAccess");
  const name = `${cluster.namespace}/${cluster.name}`;
  const refusal = useRefusal();
  const change = refusal(cluster.can.change);
  const kubeconfig = refusal(cluster.can.kubeconfig);
  if (change === undefined && (kubeconfig === undefined || !cluster.can.kubeconfig?.missing?.length)) {
    return null;
  }
  return (
    <Banner tone="wait" icon="lock" help={change ?? kubeconfig}>
      {change === undefined ? t("mayNotAll", { cluster: name }) : t("mayLook", { cluster: name })}
    </Banner>
  );
}

interface Right {
  what: string;
  privilege: string;
  answer: Answer | undefined;
}

function YouHave({ cluster, pool }: { cluster: Detail; pool: string }) {
  const t = useTexts("clusterAccess");
  const name = `${cluster.namespace}/${cluster.name}`;
  const rights: Right[] = [
    { what: t("see"), privilege: "VM.Audit", answer: { ok: true } },
    { what: t("change"), privilege: "VM.Allocate", answer: cluster.can.change },
    { what: t("kubeconfig"), privilege: "Sys.Modify", answer: cluster.can.kubeconfig },
  ];
  return (
    <Panel flush title={t("youHave", { cluster: name })}>
      <Table
        label={t("youHave", { cluster: name })}
        rows={rights}
        rowKey={(r) => r.privilege}
        columns={[
          { key: "may", head: t("may"), headHidden: true, width: "fit", cell: (r) => <May answer={r.answer} /> },
          { key: "what", head: t("action"), cell: (r) => r.what },
          { key: "privilege", head: t("privilege"), width: "fit", soft: true, cell: (r) => <span className={layout.mono}>{r.privilege}</span> },
        ]}
      />
      <div className={css.below}>
        <Reason>{t.rich("onPool", { path: <span className={layout.mono}>{pool}</span> })}</Reason>
      </div>
    </Panel>
  );
}

/** What only waits for the cluster is allowed all the same. */
function May({ answer }: { answer: Answer | undefined }) {
  const t = useTexts("clusterAccess");
  const ok = answer === undefined || answer.ok || !answer.missing?.length;
  return (
    <>
      <Icon name={ok ? "check" : "lock"} />
      <span className={layout.sr}>{ok ? t("yes") : t("no")}</span>
    </>
  );
}

function KubeconfigPanel({ cluster }: { cluster: Detail }) {
  const t = useTexts("clusterAccess");
  const done = useDone();
  const download = useKubeconfig(cluster.namespace, cluster.name);
  const refusal = useRefusal();
  const reason = refusal(cluster.can.kubeconfig);
  return (
    <Panel title={t("kubeconfigTitle")}>
      <Stack tight>
        <p>{t("kubeconfigText")}</p>
        <p>
          <Button
            icon="download"
            reason={reason}
            reasonId="kubeconfig-reason"
            busy={download.isPending}
            onClick={() => download.mutate(undefined, { onSuccess: () => done(t("done", { cluster: `${cluster.namespace}/${cluster.name}` })) })}
          >
            {t("download")}
          </Button>
        </p>
        {reason !== undefined && <Reason id="kubeconfig-reason">{reason}</Reason>}
        {download.isError && <Failed error={download.error} />}
      </Stack>
    </Panel>
  );
}
