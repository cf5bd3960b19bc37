import { Button, Dialog } from "@/components";
import { useTexts } from "@/i18n";
import css from "./KeysDialog.module.css";

/** Which key does what. */
export function KeysDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const t = useTexts("shell");
  const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
    [["Ctrl K", "/"], t("keyFind")],
    [["N"], t("keyNew")],
    [["G 1", "G 5"], t("keyPages")],
    [["↑ ↓ ← →"], t("keyArrows")],
    [["Enter"], t("keyEnter")],
    [["."], t("keyDot")],
    [["L"], t("keyLog")],
    [["Esc"], t("keyEsc")],
    [["Ctrl Enter"], t("keySubmit")],
    [["?"], t("keyHelp")],
  ];
  const close = (
    <Button onClick={() => onOpenChange(false)}>
      {t("closeKeys")}
    </Button>
  );
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t("keys")} footer={close}>
      <dl className={css.keys}>
        {keys.map(([names, does]) => (
          <div key={does}>
            <dt>
              {names.map((n) => (
                <kbd key={n}>{n}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p>{t("keysOff")}</p>
    </Dialog>
  );
}
