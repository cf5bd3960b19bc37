import { type ReactNode, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { type ClusterAnswer, type Conflict, type Field, isApiError, useChangeCluster, useCluster, usePlan, useSession } from "@/api";
import { Button, Failed, FootBar, Page, PhaseBadge, Reason, Skeleton, useDone, useRefusal } from "@/components";
import { useTexts } from "@/i18n";
import { clusterAddress } from "@/shell/addresses";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { useClusterCrumbs } from "../cluster";
import { gone } from "../cluster/standing";
import { baseAfter, type Keep } from "../conflict";
import { ClusterNotFound } from "../not-found/ClusterNotFound";
import { ConflictBanner } from "./ConflictBanner";
import { PlanView } from "./PlanView";

/** WithCluster is a page about one cluster: it waits for it, and tells when there is none. */
export function WithCluster({ title, crumb, children }: { title: (cluster: string) => string; crumb: string; children: (answer: ClusterAnswer) => ReactNode }) {
  const { namespace = "", name = "" } = useParams();
  const query = useCluster(namespace, name);
  const crumbs = useClusterCrumbs(namespace, name, crumb);
  if (query.data !== undefined) {
    return children(query.data);
  }
  if (isApiError(query.error, 404)) {
    return <ClusterNotFound namespace={namespace} name={name} />;
  }
  return (
    <Page title={title(`${namespace}/${name}`)} crumbs={crumbs}>
      {query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />}
    </Page>
  );
}

export interface ChangePageProps {
  answer: ClusterAnswer;
  title: string;
  crumb: string;
  /** form are the fields of the page. */
  form: ReactNode;
  /** fields are what is to change; none mean that there is nothing to commit yet. */
  fields: Field[];
  /** subject is the commit's first line. */
  subject: string;
  button: ReactNode;
  /** reason is why there is nothing to commit yet. */
  reason: string | undefined;
  /** planNone says what to do to see a plan. */
  planNone: string;
  /** onKeep takes over whose version of a field stays. */
  onKeep: (conflict: Conflict, keep: Keep) => void;
}

/** A form that changes a cluster: beside it what the change does, below it the commit. */
export function ChangePage(props: ChangePageProps) {
  const t = useTexts("changePlan");
  const { cluster } = props.answer;
  const { user } = useSession();
  const commit = useCommitting(props);
  const full = `${cluster.namespace}/${cluster.name}`;
  const going = gone(cluster) ? t("going", { cluster: full }) : undefined;
  const open = commit.conflicts.length > 0 ? t("conflictOpen") : undefined;
  const plan = usePlan(cluster.namespace, cluster.name, props.fields).data;
  const wrong = props.fields.length > 0 && plan?.problems?.length ? t("waitsForProblems") : undefined;
  const refusal = useRefusal();
  const reason = refusal(cluster.can.change) ?? going ?? open ?? props.reason ?? wrong;
  const submit = () => {
    if (reason === undefined && !commit.isPending) {
      commit.run();
    }
  };
  return (
    <Page
      title={props.title}
      crumbs={useClusterCrumbs(cluster.namespace, cluster.name, props.crumb)}
      badge={<PhaseBadge phase={cluster.phase} stale={props.answer.stale !== undefined} />}
      foot={
        <FootBar reason={reason !== undefined && <Reason id="change-reason">{reason}</Reason>} note={props.subject !== "" && t("commits", { subject: props.subject, user })}>
          <Button variant="primary" icon="commit" type="submit" form="change-form" reason={reason} reasonId="change-reason" busy={commit.isPending}>
            {props.button}
          </Button>
          <Button to={clusterAddress(cluster)}>{t("cancel")}</Button>
        </FootBar>
      }
    >
      <div className={cx(layout.cols, layout.colsForm)}>
        <form
          id="change-form"
          className={layout.stack}
          aria-label={props.title}
          onSubmit={(e) => {
            e.preventDefault();
            submit();
          }}
        >
          {commit.conflicts.length > 0 && <ConflictBanner conflicts={commit.conflicts} onKeep={commit.keep} />}
          {commit.error !== null && <Failed error={commit.error} />}
          {props.form}
        </form>
        <PlanView cluster={cluster} fields={props.fields} none={props.planNone} />
      </div>
    </Page>
  );
}

/** useCommitting commits on what the person looked at. What somebody else changed meanwhile is asked about, a field at a time. */
function useCommitting({ answer, fields, subject, onKeep }: ChangePageProps) {
  const t = useTexts("changePlan");
  const { cluster } = answer;
  const done = useDone();
  const navigate = useNavigate();
  const [base, setBase] = useState(answer.commit);
  const [settled, setSettled] = useState<readonly Conflict[]>([]);
  const change = useChangeCluster(cluster.namespace, cluster.name);
  const all = isApiError(change.error, 409) ? (change.error.body.conflicts ?? []) : [];
  const keep = (conflict: Conflict, whose: Keep) => {
    onKeep(conflict, whose);
    const now = [...settled, conflict];
    setSettled(now);
    if (all.every((c) => now.includes(c))) {
      setBase(baseAfter(all, base));
      change.reset();
    }
  };
  const run = () =>
    change.mutate(
      { base, why: subject, fields },
      {
        onSuccess: (made) => {
          done(t("done", { commit: made.commit.slice(0, 7) }), made.subject);
          void navigate(clusterAddress(cluster));
        },
      },
    );
  return { run, keep, isPending: change.isPending, conflicts: all.filter((c) => !settled.includes(c)), error: all.length > 0 ? null : change.error };
}
