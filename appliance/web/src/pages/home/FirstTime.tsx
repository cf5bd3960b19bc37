import { useCapacity, useClusters, useFleet } from "@/api";
import { Button, type CheckItem, Checks, Empty, Page, Panel, useRefusal, useWords } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { room } from "./room";

/** Home before there is a cluster: what is ready, and one button. */
export function FirstTime() {
  const t = useTexts("home");
  const checks = useReady();
  const ready = checks.filter((c) => c.state === "ok").length;
  const create = useClusters().data?.can.create;
  const all = ready === checks.length;
  const repository = useFleet().data?.can.repository?.ok;
  const actions = (
    <>
      <Button icon="plus" to="/clusters/new" answer={create}>
        {t("newCluster")}
      </Button>
      {repository && (
        <Button icon="repository" to="/repository">
          {t("useGit")}
        </Button>
      )}
    </>
  );
  return (
    <Page title={all ? t("allReady") : t("notReady")} windowTitle={t("title")}>
      <div className={layout.cols}>
        <Panel flush>
          <Empty title={t("noClusters")} actions={actions} tall>
            <p>{t("takesAName")}</p>
            <p>{t("sharedAppear")}</p>
          </Empty>
        </Panel>
        <Panel title={t("ready")} aside={t("readyOf", { ready, all: checks.length })}>
          <Checks items={checks} />
        </Panel>
      </div>
    </Page>
  );
}

/** What a first cluster needs, as far as it is known. */
function useReady(): CheckItem[] {
  const t = useTexts("home");
  const say = useWords();
  const create = useClusters().data?.can.create;
  const refusal = useRefusal();
  const fleet = useFleet().data;
  const nodes = useCapacity().data?.nodes.filter((n) => n.online) ?? [];
  const memory = room(nodes.map((n) => ({ total: n.memory.totalBytes, used: n.memory.usedBytes, ours: 0 })));
  const network = fleet?.networks.toSorted((a, b) => b.nodes.free - a.nodes.free)[0];
  const version = fleet?.versions[0];
  const checks: (CheckItem | false | undefined)[] = [
    create && (create.ok ? { state: "ok", text: t("mayCreate") } : { state: "no", text: t("mayNotCreate"), detail: refusal(create) }),
    fleet && (version ? { state: "ok", text: t("templates"), detail: t("templatesOf", { version }) } : { state: "warn", text: t("noTemplates"), detail: t("noTemplatesHelp") }),
    network && { state: network.nodes.free > 1 ? "ok" : "warn", text: t("addressesFree"), detail: t("addressesOf", { n: network.nodes.free, network: network.name }) },
    memory.total > 0 && { state: memory.free > 4 * 2 ** 30 ? "ok" : "warn", text: t("memoryFree"), detail: t("memoryOf", { size: say.bytes(memory.free) }) },
  ];
  return checks.filter((c) => Boolean(c)) as CheckItem[];
}
