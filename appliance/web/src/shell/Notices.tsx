import { isApiError, useClusters } from "@/api";
import { Banner, Said, Span, Time } from "@/components";
import { useTexts } from "@/i18n";

/** What holds for every page: the management cluster, or Kubehenge itself, does not answer. */
export function Notices() {
  const t = useTexts("shell");
  const { data, error } = useClusters();
  if (isApiError(error, 0)) {
    return (
      <Banner tone="wait" mark="pending" flush help={t("goneHelp")}>
        {t("gone")}
      </Banner>
    );
  }
  if (!data?.stale) return null;
  const { since } = data.stale;
  if (data.stale.told?.message && data.stale.told.message.code !== "stale-away") {
    return (
      <Banner tone="wait" mark="pending" flush>
        <Said of={data.stale} field="message" />
      </Banner>
    );
  }
  return (
    <Banner tone="wait" mark="pending" flush help={t("staleHelp")}>
      {t.rich("stale", { time: <Time at={since} />, span: <Span since={since} /> })}
    </Banner>
  );
}
