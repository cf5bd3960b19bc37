import { type FormEvent, useRef, useState } from "react";
import { type Realm, useRealms } from "@/api";
import { Button, Failed, Field, Input, Select } from "@/components";
import { useTexts } from "@/i18n";
import layout from "@/styles/layout.module.css";
import { Refused, type RefusedProps, useWait } from "./Refused";
import { userOf } from "./place";
import css from "./sign-in.module.css";

/** What a person gave: the user with its realm, and the password. It is kept only until the second factor is asked for. */
export interface Given {
  user: string;
  password: string;
}

const kept = "kubehenge.realm";

/** The realm chosen here before, else the one that Proxmox VE chooses, else the first. */
function firstRealm(realms: readonly Realm[]): string {
  const before = localStorage.getItem(kept);
  return (realms.find((r) => r.name === before) ?? realms.find((r) => r.default) ?? realms[0])?.name ?? "pam";
}

export function Account({ busy, error, came, first, onSend }: RefusedProps & { first?: Given; onSend: (given: Given) => void }) {
  const t = useTexts("signIn");
  const realms = useRealms();
  const list = realms.data ?? [];
  const [name, setName] = useState(first?.user ?? "");
  const [password, setPassword] = useState("");
  const [chosen, setRealm] = useState<string>();
  const realm = chosen ?? firstRealm(list);
  const openID = list.find((r) => r.name === realm)?.type === "openid";
  const fields = useRef<HTMLFormElement>(null);
  const wait = useWait(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy || wait) return;
    localStorage.setItem(kept, realm);
    if (openID) location.assign(`/api/openid/${encodeURIComponent(realm)}`);
    else if (!name.trim() || !password) fields.current?.querySelector<HTMLElement>(name.trim() ? "[type=password]" : "input")?.focus();
    else onSend({ user: userOf(name, realm, list.map((r) => r.name)), password });
  };
  return (
    <>
      <h1>{t("title")}</h1>
      <p className={layout.soft}>{t("lede")}</p>
      <form onSubmit={submit} ref={fields} noValidate>
        {realms.error && <Failed error={realms.error} retry={() => void realms.refetch()} />}
        {!openID && (
          <>
            <Field label={t("user")}>
              <Input autoFocus autoComplete="username" autoCapitalize="none" value={name} onChange={(e) => setName(e.target.value)} required />
            </Field>
            <Field label={t("password")}>
              <Input type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} required />
            </Field>
          </>
        )}
        <Field label={t("realm")}>
          <Select value={realm} onChange={setRealm} options={list.map((r) => ({ value: r.name, label: r.name, detail: r.comment }))} />
        </Field>
        <Refused error={error} came={came} />
        <Button type="submit" variant="primary" wide busy={busy} reason={wait} reasonId="refused">
          {openID ? t("continueWith", { realm }) : t("signIn")}
        </Button>
      </form>
      {openID && <p className={css.note}>{t("openIDNote")}</p>}
    </>
  );
}
