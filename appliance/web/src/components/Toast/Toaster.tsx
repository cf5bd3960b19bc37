import { Toast as Base } from "@base-ui/react/toast";
import { useEffect } from "react";
import { useTexts } from "@/i18n";
import { Button } from "../Button/Button";
import { Mark } from "../Mark/Mark";
import type { Said } from "./Toast";
import css from "./Toast.module.css";

/** Draws the last thing that was said. */
export function Toaster({ last }: { last: Said }) {
  return (
    <Base.Provider timeout={5000} limit={1}>
      <Add said={last} />
      <Base.Portal>
        <Base.Viewport className={css.viewport}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function Add({ said }: { said: Said }) {
  const { add } = Base.useToastManager();
  useEffect(() => void add({ title: said.title, description: said.detail }), [add, said]);
  return null;
}

function Toasts() {
  const t = useTexts("common");
  const { toasts } = Base.useToastManager();
  return toasts.map((toast) => (
    <Base.Root key={toast.id} toast={toast} className={css.toast}>
      <Mark kind="running" className={css.mark} />
      <Base.Content className={css.words}>
        <Base.Title className={css.title} />
        <Base.Description className={css.detail} />
      </Base.Content>
      <Base.Close aria-hidden={false} render={<Button variant="quiet" small icon="x" label={t("close")} />} />
    </Base.Root>
  ));
}
