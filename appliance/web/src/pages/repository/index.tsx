import { Page } from "@/components";
import { useTexts } from "@/i18n";

export function Component() {
  const t = useTexts("repository");
  return <Page title={t("title")}>{null}</Page>;
}
