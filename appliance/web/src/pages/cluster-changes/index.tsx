import { useState } from "react";
import { useSearchParams } from "react-router";
import { useClusterChanges } from "@/api";
import { Failed, Skeleton } from "@/components";
import { clusterAddress } from "@/shell/addresses";
import { useClusterPage } from "../cluster/context";
import { ChangeBrowser } from "./ChangeBrowser";

/** How many commits are asked for at first, and how many more each time. */
const step = 20;

/** A cluster's commits: what each changed, what that did, and undoing it. */
export function Component() {
  const { cluster } = useClusterPage();
  const [limit, setLimit] = useState(step);
  const [params] = useSearchParams();
  const query = useClusterChanges(cluster.namespace, cluster.name, limit);
  if (query.data === undefined) {
    return query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />;
  }
  return (
    <ChangeBrowser
      changes={query.data.changes}
      more={query.data.more}
      chosen={params.get("commit") ?? undefined}
      address={(commit) => `${clusterAddress(cluster, "changes")}?commit=${commit}`}
      onOlder={() => setLimit(limit + step)}
      loadingOlder={query.isFetching}
    />
  );
}
