import { useState } from "react";
import { type AuditEvent, isApiError, useAudit } from "@/api";
import { Empty, Failed, Page, Segment, Select, Skeleton } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { AskForPrivileges } from "../not-found/AskForPrivileges";
import css from "./Audit.module.css";
import { AuditTable } from "./AuditTable";
import { matching, type Which } from "./matching";
import { SearchField } from "./SearchField";

const limits = ["100", "500", "1000"] as const;

/** Who did what, from where; for administrators. */
export function Component() {
  const t = useTexts("audit");
  const [limit, setLimit] = useState<(typeof limits)[number]>("100");
  const [which, setWhich] = useState<Which>("all");
  const [words, setWords] = useState("");
  const query = useAudit(Number(limit));
  return (
    <Page
      title={t("title")}
      crumbs={[{ label: t("home"), to: "/" }, { label: t("title") }]}
      lede={t("lede")}
      flush
      line={
        query.data !== undefined && (
          <>
            <SearchField label={t("filter")} placeholder={t("filterHint")} value={words} onChange={setWords} />
            <Segment
              label={t("which")}
              value={which}
              onChange={setWhich}
              options={[
                { value: "all", label: t("all") },
                { value: "refused", label: t("onlyRefused") },
              ]}
            />
            <Select className={css.limit} label={t("howMany")} value={limit} onChange={setLimit} options={limits.map((n) => ({ value: n, label: t("newest", { n }) }))} />
          </>
        )
      }
    >
      {query.data !== undefined && <Found events={query.data} words={words} which={which} />}
      {query.data === undefined && <Waiting error={query.error} retry={() => void query.refetch()} />}
    </Page>
  );
}

function Found({ events, words, which }: { events: readonly AuditEvent[]; words: string; which: Which }) {
  const t = useTexts("audit");
  const found = matching(events, words, which);
  if (found.length === 0) {
    return <Empty tall title={events.length === 0 ? t("none") : t("noneFound")} />;
  }
  return (
    <>
      <AuditTable events={found} />
      <p className={css.more}>{t("more")}</p>
    </>
  );
}

function Waiting({ error, retry }: { error: Error | null; retry: () => void }) {
  const missing = isApiError(error, 403) ? (error.body.missing ?? []) : [];
  return (
    <div className={css.padded}>
      {error === null ? (
        <Skeleton lines={8} />
      ) : (
        <div className={layout.stack}>
          <Failed error={error} retry={retry} />
          {missing.length > 0 && <AskForPrivileges missing={missing} />}
        </div>
      )}
    </div>
  );
}
