import { useEffect, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { type Factors, isApiError, useSignIn } from "@/api";
import { BrandMark } from "@/components";
import { layer } from "@/components/popup/layer";
import { useTexts } from "@/i18n";
import { Account, type Given } from "./Account";
import { Land } from "./Land";
import { SecondFactor } from "./SecondFactor";
import css from "./sign-in.module.css";
import { safePlace } from "./place";

/** Sign-in with an account of Proxmox VE, and its second factor where it has one. */
export function Component() {
  const t = useTexts("signIn");
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const signIn = useSignIn();
  const [given, setGiven] = useState<Given>();
  const [factors, setFactors] = useState<Factors>();
  useEffect(() => {
    document.title = t("windowTitle");
  }, [t]);

  const send = (account: Given, second?: { factor: keyof Factors; code: string }) => {
    setGiven(account);
    signIn.mutate(
      { user: account.user, password: account.password, ...second },
      {
        onSuccess: () => void navigate(safePlace(search.get("to")), { replace: true }),
        onError: (error) => {
          if (isApiError(error, 401) && error.body.factors) setFactors(error.body.factors);
        },
      },
    );
  };
  const back = () => {
    setFactors(undefined);
    signIn.reset();
  };
  const asked = isApiError(signIn.error, 401) && signIn.error.body.factors && !signIn.variables?.code;
  const state = { busy: signIn.isPending, error: asked ? undefined : (signIn.error ?? undefined), came: search.get("failed") ?? undefined };
  return (
    <main className={css.signin}>
      <div className={css.card}>
        <span className={css.brand}>
          <BrandMark />
          Kubehenge
        </span>
        {factors && given ? (
          <SecondFactor user={given.user} factors={factors} {...state} onBack={back} onSend={(factor, code) => send(given, { factor, code })} />
        ) : (
          <Account {...state} first={given} onSend={send} />
        )}
      </div>
      <Land />
      <div ref={layer} className={css.layer} />
    </main>
  );
}
