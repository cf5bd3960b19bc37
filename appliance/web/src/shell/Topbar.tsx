import { Link, useMatch } from "react-router";
import { useClusters } from "@/api";
import { BrandMark, Button, Icon } from "@/components";
import { layer } from "@/components/popup/layer";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { Account } from "./Account";
import { InStep } from "./InStep";
import css from "./Topbar.module.css";

/** The bar at the top: where one finds things, how far the agent is, and who one is. */
export function Topbar({ onMenu, onFind, onKeys }: { onMenu: () => void; onFind: () => void; onKeys: () => void }) {
  const t = useTexts("shell");
  return (
    <header className={css.topbar}>
      <Button variant="quiet" icon="menu" label={t("openTree")} className={layout.onlyPhone} onClick={onMenu} />
      <Link className={css.brand} to="/">
        <BrandMark />
        Kubehenge
      </Link>
      <button type="button" className={css.jump} onClick={onFind}>
        <Icon name="search" />
        <span>{t("find")}</span>
        <kbd>{t("ctrlK")}</kbd>
      </button>
      <span className={layout.spring} />
      <InStep />
      <Button variant="quiet" icon="search" label={t("findShort")} className={layout.onlyPhone} onClick={onFind} />
      <NewCluster />
      <Account onKeys={onKeys} />
      <div ref={layer} className={css.layer} />
    </header>
  );
}

/** The filled button of most pages; not of those that have their own. */
function NewCluster() {
  const t = useTexts("shell");
  const create = useClusters().data?.can.create;
  const own = [useMatch("/clusters/new"), useMatch("/clusters/:namespace/:name/delete")].some(Boolean);
  return (
    <>
      <Button variant={own ? undefined : "primary"} icon="plus" to="/clusters/new" answer={create} className={layout.wide}>
        {t("newCluster")}
      </Button>
      <Button variant="quiet" icon="plus" label={t("newCluster")} to="/clusters/new" answer={create} className={layout.onlyPhone} />
    </>
  );
}
