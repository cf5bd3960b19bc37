import { useRouteError } from "react-router";
import { Failed, Page, Skeleton } from "@/components";
import { useTexts } from "@/i18n";

/** In place of a page that cannot be shown. */
export function Broken() {
  const t = useTexts("common");
  return (
    <Page title={t("product")}>
      <Failed error={useRouteError()} retry={() => location.reload()} />
    </Page>
  );
}

/** In place of the first page while it is on its way. */
export function Starting() {
  return <Skeleton padded />;
}
