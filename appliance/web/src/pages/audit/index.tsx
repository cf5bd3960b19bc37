import { Page } from "@/components";
import { useTexts } from "@/i18n";

export function Component() {
  const t = useTexts("audit");
  return <Page title={t("title")}>{null}</Page>;
}
