import { type Change, type ClusterName, useSession, useUndo } from "@/api";
import { Button, Dialog, Failed, useDone } from "@/components";
import { useTexts } from "@/i18n";

/** Asks before a change is undone. What undoing meets stays in the dialog until it is solved. */
export function UndoDialog({ change, cluster, open, onOpenChange }: {
  change: Change;
  /** One of the clusters that the commit changed. */
  cluster: ClusterName;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const t = useTexts("clusterChanges");
  const done = useDone();
  const { user } = useSession();
  const undo = useUndo(cluster.namespace, cluster.name);
  const close = (now: boolean) => {
    undo.reset();
    onOpenChange(now);
  };
  const submit = () =>
    undo.mutate(
      { commit: change.commit },
      {
        onSuccess: (made) => {
          done(t("undone", { commit: made.commit.slice(0, 7) }));
          close(false);
        },
      },
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title={t("undoTitle", { subject: change.subject })}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={() => close(false)}>{t("cancel")}</Button>
          <Button variant="primary" type="submit" icon="undo" busy={undo.isPending}>
            {t("undoButton")}
          </Button>
        </>
      }
    >
      <p>{t("undoText", { commit: change.commit.slice(0, 7) })}</p>
      <p>{t("undoCommits", { subject: change.subject, user })}</p>
      {undo.isError && <Failed error={undo.error} />}
    </Dialog>
  );
}
