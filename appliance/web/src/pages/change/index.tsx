import { useParams } from "react-router";
import { type Change, isApiError, useChange } from "@/api";
import { Badge, Button, Empty, Failed, type MarkKind, Page, Skeleton, Time } from "@/components";
import { useTexts } from "@/i18n";
import { ChangeParts } from "../cluster-changes/ChangeDetail";

type Known = NonNullable<Change["state"]>;

const marks: Record<Known, MarkKind> = { applied: "running", waiting: "pending", refused: "error" };

/** A commit on a page of its own, for links from anywhere. */
export function Component() {
  const t = useTexts("clusterChanges");
  const { commit = "" } = useParams();
  const query = useChange(commit);
  const short = commit.slice(0, 7);
  const crumbs = [{ label: t("title"), to: "/changes" }, { label: short }];
  const { data: change } = query;
  if (change !== undefined) {
    const words: Record<Known, string> = { applied: t("applied"), waiting: t("waiting"), refused: t("refused") };
    const user = change.user ?? change.author;
    return (
      <Page
        title={change.subject}
        crumbs={crumbs}
        badge={change.state && <Badge kind={marks[change.state]}>{words[change.state]}</Badge>}
        lede={!change.signedBy ? t.rich("byAt", { user, time: <Time at={change.time} /> }) : t.rich("byAtSigned", { user, time: <Time at={change.time} /> })}
      >
        <ChangeParts change={change} />
      </Page>
    );
  }
  if (isApiError(query.error, 404)) {
    return (
      <Page title={t("notFound")} crumbs={crumbs} flush>
        <Empty art="fallen" title={t("title404", { commit: short })} actions={<Button to="/changes" icon="change">{t("allChanges")}</Button>}>
          {t("text404")}
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={short} crumbs={crumbs}>
      {query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />}
    </Page>
  );
}
