import { useState } from "react";
import { useSearchParams } from "react-router";
import { useChanges } from "@/api";
import { Failed, Page, Skeleton } from "@/components";
import { useTexts } from "@/i18n";
import { ChangeBrowser } from "../cluster-changes/ChangeBrowser";

/** How many commits are asked for at first, and how many more each time. */
const step = 30;

/** The commits of all clusters that the person may see. */
export function Component() {
  const t = useTexts("clusterChanges");
  const [limit, setLimit] = useState(step);
  const [params] = useSearchParams();
  const query = useChanges(limit);
  return (
    <Page title={t("title")} crumbs={[{ label: t("home"), to: "/" }, { label: t("title") }]}>
      {query.data !== undefined && (
        <ChangeBrowser
          changes={query.data.changes}
          more={query.data.more}
          chosen={params.get("commit") ?? undefined}
          address={(commit) => `/changes?commit=${commit}`}
          onOlder={() => setLimit(limit + step)}
          loadingOlder={query.isFetching}
        />
      )}
      {query.data === undefined && (query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />)}
    </Page>
  );
}
