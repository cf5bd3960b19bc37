import { useEffect, useState } from "react";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import css from "./Skeleton.module.css";

const widths = [css.w2, css.w4, css.w3, css.w4, css.w1];

/** The shape of what is on its way. It comes after 300 ms, so that quick answers do not flicker. */
export function Skeleton({ lines = 5, padded }: { lines?: number; padded?: boolean }) {
  const t = useTexts("common");
  const shown = useLater(300);
  return (
    <div className={cx(css.skeleton, padded && css.padded)} role="status" aria-label={t("loading")}>
      {shown && Array.from({ length: lines }, (_, i) => <span key={i} className={cx(css.line, widths[i % widths.length])} />)}
    </div>
  );
}

function useLater(ms: number): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return later;
}
