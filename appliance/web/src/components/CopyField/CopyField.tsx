import { useEffect, useState } from "react";
import { useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import { Button } from "../Button/Button";
import css from "./CopyField.module.css";

/** Text to copy, with its button. wrap breaks long lines. */
export function CopyField({ value, label, wrap }: { value: string; label: string; wrap?: boolean }) {
  return (
    <div className={cx(css.copy, wrap && css.wrap)}>
      <code tabIndex={0} role="textbox" aria-readonly="true" aria-label={label}>
        {value}
      </code>
      <CopyButton value={value} what={label} />
    </div>
  );
}

/** Copies, and says so in place for two seconds. alone shows only the icon; what names the thing for screen readers. */
export function CopyButton({ value, what, alone }: { value: string; what: string; alone?: boolean }) {
  const t = useTexts("common");
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => navigator.clipboard.writeText(value).then(() => setCopied(true));
  return (
    <>
      <Button
        variant="quiet"
        small
        icon={copied ? "check" : "copy"}
        label={alone ? t("copyWhat", { what }) : undefined}
        aria-label={alone ? undefined : t("copyWhat", { what })}
        className={css.button}
        onClick={() => void copy()}
      >
        {copied ? t("copied") : t("copy")}
      </Button>
      <span role="status" className={css.said}>
        {copied && t("copied")}
      </span>
    </>
  );
}
