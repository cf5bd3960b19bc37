import { isApiError, useClusters } from "@/api";
import { Banner, Span, Time } from "@/components";
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
  return (
    <Banner tone="wait" mark="pending" flush help={t("staleHelp")}>
      {t.rich("stale", { time: <Time at={since} />, span: <Span since={since} /> })}
    </Banner>
  );
}
