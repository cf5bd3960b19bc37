import { Outlet } from "react-router";
import { Page } from "@/components";
import { useTexts } from "@/i18n";

export function Component() {
  const t = useTexts("cluster");
  return (
    <Page title={t("title")}>
      <Outlet />
    </Page>
  );
}
