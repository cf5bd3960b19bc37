import { useEffect, useState } from "react";
import { isApiError } from "@/api";
import { Icon } from "@/components";
import { useFailure } from "@/components/Failed/Failed";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import css from "./sign-in.module.css";

export interface RefusedProps {
  busy: boolean;
  error?: Error;
  /** How the browser came back from elsewhere, such as "openid" when that sign-in did not work. */
  came?: string;
}

/** Why sign-in did not work, in one sentence. */
export function Refused({ error, came }: Omit<RefusedProps, "busy">) {
  const t = useTexts("signIn");
  const { sentence } = useFailure(error);
  const wait = useWait(error);
  const text = wait ?? (isApiError(error, 401) ? t("wrong") : error ? sentence : came === "openid" ? t("openIDFailed") : undefined);
  return (
    <>
      <div id="refused" className={css.refused} role={wait ? undefined : "alert"}>
        {text && (
          <>
            <Icon name="alert" />
            <p>{text}</p>
          </>
        )}
      </div>
      <p role="alert" className={layout.sr}>
        {wait && t("tooMany")}
      </p>
    </>
  );
}

/** After too many attempts: how long is to be waited, second by second; undefined when one may try. */
export function useWait(error: Error | undefined): string | undefined {
  const t = useTexts("signIn");
  const seconds = isApiError(error, 429) ? (error.body.retryAfterSeconds ?? 30) : 0;
  const [left, setLeft] = useState(0);
  useEffect(() => {
    setLeft(seconds);
    if (seconds === 0) return;
    const until = Date.now() + seconds * 1000;
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000))), 500);
    return () => clearInterval(timer);
  }, [error, seconds]);
  return left > 0 ? t("wait", { n: left }) : undefined;
}
