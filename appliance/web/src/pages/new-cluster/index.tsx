import { type FormEvent, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";
import { type Fleet, useFleet, useSession } from "@/api";
import { Button, Failed, FootBar, Page, Reason, Skeleton } from "@/components";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import { FilePanel } from "./FilePanel";
import { FitPanel } from "./FitPanel";
import { FirstFields } from "./FirstFields";
import { MoreFields } from "./MoreFields";
import css from "./NewCluster.module.css";
import { useNewCluster } from "./useNewCluster";

/** A new cluster: four fields, what it needs and whether it fits, and the file as it will be committed. */
export function Component() {
  const t = useTexts("newCluster");
  const query = useFleet();
  if (query.data !== undefined) {
    return <NewClusterPage fleet={query.data} />;
  }
  return (
    <Page title={t("title")} crumbs={[{ label: t("clusters"), to: "/clusters" }, { label: t("crumb") }]}>
      {query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton lines={8} />}
    </Page>
  );
}

function NewClusterPage({ fleet }: { fleet: Fleet }) {
  const t = useTexts("newCluster");
  const { user } = useSession();
  const [params] = useSearchParams();
  const model = useNewCluster(fleet, params.get("namespace") ?? undefined);
  const element = useRef<HTMLFormElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    model.create();
  };
  // What the server finds wrong is told at its field; the first one gets the focus.
  useEffect(() => {
    if (model.error !== null) {
      element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
    }
  }, [model.error]);
  return (
    <Page
      title={t("title")}
      crumbs={[{ label: t("clusters"), to: "/clusters" }, { label: t("crumb") }]}
      foot={
        <FootBar
          reason={model.reason !== undefined && <Reason id="create-reason">{model.reason}</Reason>}
          note={model.form.name !== "" && t("commits", { cluster: model.full, user })}
        >
          <Button variant="primary" icon="commit" type="submit" form="new-cluster" reason={model.reason} reasonId="create-reason" busy={model.isPending}>
            {t("create")}
          </Button>
        </FootBar>
      }
    >
      <div className={cx(layout.cols, layout.colsForm)}>
        <form id="new-cluster" ref={element} className={layout.stack} aria-label={t("form")} onSubmit={submit} noValidate>
          {model.error !== null && <Failed error={model.error} />}
          <FirstFields fleet={fleet} model={model} />
          <MoreFields fleet={fleet} model={model} />
        </form>
        <div className={cx(layout.stack, css.aside)}>
          <FitPanel fleet={fleet} model={model} />
          <FilePanel model={model} />
        </div>
      </div>
    </Page>
  );
}
