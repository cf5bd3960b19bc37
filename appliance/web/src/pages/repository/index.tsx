import { isApiError, type Repository, useChanges, useFleet, useRepository } from "@/api";
import { CopyField, Failed, Page, Panel, Skeleton, Stack } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { AskForPrivileges } from "../not-found/AskForPrivileges";
import { AgentBanner } from "./AgentBanner";
import { History } from "./History";
import { Mirror } from "./Mirror";
import { RefusedPushes } from "./RefusedPushes";

/** The repository: how to work with it, where branch, agent and mirror stand, and which pushes were refused. */
export function Component() {
  const t = useTexts("repository");
  const query = useRepository();
  const { data: repository } = query;
  return (
    <Page title={t("title")} crumbs={[{ label: t("home"), to: "/" }, { label: t("title") }]}>
      {repository !== undefined && <Parts repository={repository} />}
      {repository === undefined && query.isError && <Refused error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={8} />}
    </Page>
  );
}

/** Reading the repository shows every cluster, so it takes more than reading one; the clone line would be refused as well. */
function Refused({ error, retry }: { error: Error; retry: () => void }) {
  const missing = isApiError(error, 403) ? (error.body.missing ?? []) : [];
  return (
    <div className={layout.stack}>
      <Failed error={error} retry={retry} />
      {missing.length > 0 && <AskForPrivileges missing={missing} />}
    </div>
  );
}

/** How many commits the branch is shown with. */
const few = 8;

function Parts({ repository }: { repository: Repository }) {
  const changes = useChanges(few).data?.changes;
  const fleet = useFleet().data;
  const agent = repository.agent ?? fleet?.agent ?? {};
  return (
    <div className={layout.stack}>
      <AgentBanner agent={agent} branch={repository.branch} lastFetch={repository.lastFetch} stale={fleet?.stale} />
      <div className={cx(layout.cols, layout.colsEven)}>
        <div className={layout.stack}>
          <WorkWithIt repository={repository} />
          <History repository={repository} agent={agent} changes={changes ?? (repository.tip ? [repository.tip] : [])} />
        </div>
        <div className={layout.stack}>
          <Mirror mirror={repository.mirror} />
          <RefusedPushes refused={repository.refused ?? []} />
          <SigningKey signingKey={repository.signingKey} />
        </div>
      </div>
    </div>
  );
}

function WorkWithIt({ repository }: { repository: Repository }) {
  const t = useTexts("repository");
  return (
    <Panel title={t("work")}>
      <Stack tight>
        <p className={cx(layout.soft, layout.small)}>{t("workText")}</p>
        <CopyField value={`git clone ${repository.cloneURL}`} label={t("cloneLine")} />
        <p className={cx(layout.soft, layout.small)}>{t("check")}</p>
        <CopyField value="kubehenge check" label={t("checkLine")} />
      </Stack>
    </Panel>
  );
}

function SigningKey({ signingKey }: { signingKey: string }) {
  const t = useTexts("repository");
  if (signingKey === "") {
    return null;
  }
  return (
    <Panel title={t("signatures")}>
      <Stack tight>
        <p>{t("signaturesText")}</p>
        <CopyField wrap value={signingKey} label={t("key")} />
      </Stack>
    </Panel>
  );
}
