import type { ReactNode } from "react";
import { cx } from "@/styles/classes";
import css from "./Empty.module.css";

/** Where there is nothing: what that means and what can be done. art "fallen" is for what cannot be found; tall is for the one thing on a page. */
export function Empty({ title, children, actions, art = "standing", tall }: {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  art?: "standing" | "fallen" | "none";
  tall?: boolean;
}) {
  return (
    <div className={cx(css.empty, tall && css.tall)}>
      {art !== "none" && <Stones fallen={art === "fallen"} />}
      <h2>{title}</h2>
      {children && <div>{children}</div>}
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
  );
}

function Stones({ fallen }: { fallen: boolean }) {
  return (
    <svg className={css.art} viewBox="0 0 84 48" aria-hidden="true" focusable="false">
      {fallen ? (
        <>
          <g fill="currentColor" opacity=".28">
            <path d="M10 18l7 0 2 26h-11z" />
            <path d="M33 16l7 0 1 28h-10z" />
            <path d="M8 8l34-2 1 7-34 3z" />
          </g>
          <path d="M54 18h8l2 26H52z" fill="none" stroke="currentColor" strokeDasharray="3 3" opacity=".6" />
          <path d="M68 38l12-3 2 7-13 3z" fill="currentColor" opacity=".28" />
        </>
      ) : (
        <path fill="currentColor" opacity=".28" d="M26 18h8l2 26H24zM50 18h8l2 26H48zM20 6l44-1 1 8-46 2z" />
      )}
    </svg>
  );
}
