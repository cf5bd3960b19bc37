import { type FormEvent, useState } from "react";
import type { FactorKind, Factors } from "@/api";
import { Button, Field, Input, Reason, TextButton } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { Refused, type RefusedProps, useWait } from "./Refused";
import css from "./sign-in.module.css";

const kinds: readonly FactorKind[] = ["totp", "yubico", "recovery"];
const digits = 6;

interface SecondFactorProps extends RefusedProps {
  user: string;
  factors: Factors;
  onBack: () => void;
  onSend: (kind: FactorKind, code: string) => void;
}

/** The second factor: six digits of an app, a YubiKey's code, or a recovery key, of those that the account has. */
export function SecondFactor({ user, factors, busy, error, onBack, onSend }: SecondFactorProps) {
  const t = useTexts("signIn");
  const has = kinds.filter((k) => factors[k]);
  const [kind, setKind] = useState<FactorKind>(has[0] ?? "recovery");
  const [code, setCode] = useState("");
  const wait = useWait(error);
  const lacking = useLacking(kind, code);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && !wait && lacking === undefined) onSend(kind, code);
  };
  const change = (text: string) => setCode(kind === "totp" ? text.replace(/\D/g, "").slice(0, digits) : text.trim());
  const choose = (k: FactorKind) => {
    setKind(k);
    setCode("");
  };
  const labels = { totp: t("totpLabel"), yubico: t("yubicoLabel"), recovery: t("recoveryLabel") };
  const uses = { totp: t("useTotp"), yubico: t("useYubico"), recovery: t("useRecovery") };
  return (
    <>
      <h1>{t("secondTitle")}</h1>
      <p className={layout.soft}>{has.length > 1 ? t("secondSeveral", { user }) : t("secondOne", { user })}</p>
      <form onSubmit={submit} noValidate>
        <Field label={labels[kind]}>
          <Input
            key={kind}
            autoFocus
            code={kind === "totp"}
            mono={kind !== "totp"}
            inputMode={kind === "totp" ? "numeric" : "text"}
            autoComplete="one-time-code"
            value={code}
            onChange={(e) => change(e.target.value)}
          />
        </Field>
        <Refused error={error} />
        <Button type="submit" variant="primary" wide busy={busy} reason={wait ?? lacking} reasonId={wait ? "refused" : "lacking"}>
          {t("continue")}
        </Button>
        {lacking && <Reason id="lacking">{lacking}</Reason>}
        <div className={css.others}>
          {has.filter((k) => k !== kind).map((k) => (
            <TextButton key={k} onClick={() => choose(k)}>
              {uses[k]}
            </TextButton>
          ))}
          <span className={layout.spring} />
          <TextButton onClick={onBack}>{t("back")}</TextButton>
        </div>
      </form>
    </>
  );
}

/** What is still to be typed. */
function useLacking(kind: FactorKind, code: string): string | undefined {
  const t = useTexts("signIn");
  if (kind !== "totp") return code ? undefined : t("typeFirst");
  return code.length < digits ? t("moreDigits", { n: digits - code.length }) : undefined;
}
