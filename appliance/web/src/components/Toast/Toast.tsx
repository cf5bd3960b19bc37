import { Toast as Base } from "@base-ui/react/toast";
import { type ReactNode, useCallback } from "react";
import { useTexts } from "@/i18n";
import { Button } from "../Button/Button";
import { Mark } from "../Mark/Mark";
import css from "./Toast.module.css";

/** Around the whole page. One toast at most, for five seconds; it stays under the pointer and the focus. */
export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Base.Provider timeout={5000} limit={1}>
      {children}
      <Base.Portal>
        <Base.Viewport className={css.viewport}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
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
      <Base.Close render={<Button variant="quiet" small icon="x" label={t("close")} />} />
    </Base.Root>
  ));
}

/** Confirms what the person just did and cannot see elsewhere: done("Commit a41f09c is on main.", "The agent takes it up."). Errors stay where they happened. */
export function useDone(): (title: string, detail?: string) => void {
  const { add } = Base.useToastManager();
  return useCallback((title, detail) => void add({ title, description: detail }), [add]);
}
