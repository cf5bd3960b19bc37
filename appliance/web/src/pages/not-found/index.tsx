import { useLocation } from "react-router";
import { Button, Empty, Page } from "@/components";
import { useTexts } from "@/i18n";

/** An address that leads nowhere. */
export function Component() {
  const t = useTexts("notFound");
  const { pathname } = useLocation();
  return (
    <Page title={t("title")} crumbs={[{ label: t("home"), to: "/" }, { label: t("title") }]} flush>
      <Empty
        tall
        art="fallen"
        title={t("noPage")}
        actions={
          <Button to="/" icon="home">
            {t("home")}
          </Button>
        }
      >
        {t("noPageHint", { path: pathname })}
      </Empty>
    </Page>
  );
}
