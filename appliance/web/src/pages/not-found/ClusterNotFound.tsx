import { Button, Empty, Page } from "@/components";
import { useTexts } from "@/i18n";
import { filterAddress } from "@/shell/addresses";

/** A cluster that is not there, or that the person may not see; nobody can tell which. */
export function ClusterNotFound({ namespace, name }: { namespace: string; name: string }) {
  const t = useTexts("notFound");
  return (
    <Page title={t("title")} crumbs={[{ label: t("clusters"), to: "/clusters" }, { label: namespace, to: filterAddress(`namespace:${namespace}`) }, { label: name }]} flush>
      <Empty
        tall
        art="fallen"
        title={t("noCluster", { cluster: `${namespace}/${name}` })}
        actions={
          <Button to="/clusters" icon="cluster">
            {t("clustersYouSee")}
          </Button>
        }
      >
        {t("noClusterHint")}
      </Empty>
    </Page>
  );
}
