import { useState } from "react";
import { useNavigate } from "react-router";
import { useSession, useSignOut } from "@/api";
import { Avatar, Button, Icon, Menu, type MenuItem, useElapsed, useWords } from "@/components";
import { type Language, languages, useLanguage, useTexts } from "@/i18n";
import { cx } from "@/styles/classes";
import layout from "@/styles/layout.module.css";
import css from "./Account.module.css";
import { applyTheme, chosenTheme, type Theme } from "./theme";
import { setSingleKeys, singleKeysOn } from "./useKeys";

/** Who one is, how the page looks and speaks, and the way out. */
export function Account({ onKeys }: { onKeys: () => void }) {
  const t = useTexts("shell");
  const { user } = useSession();
  const items = [...useAppearance(), ...useLanguages(), ...useKeyItems(onKeys), useSignOutItem()];
  const trigger = (
    <Button variant="quiet" aria-label={t("account", { user })}>
      <Avatar user={user} />
      <span className={cx(css.name, layout.wide)}>{user}</span>
      <span className={layout.wide}>
        <Icon name="down" small />
      </span>
    </Button>
  );
  return <Menu trigger={trigger} items={items} head={<Head user={user} />} />;
}

function Head({ user }: { user: string }) {
  const t = useTexts("shell");
  const say = useWords();
  const ends = new Date(useSession().ends).getTime();
  useElapsed(ends - 12 * 3_600_000); // so that the time that is left runs
  return (
    <p className={css.head}>
      <b>{user}</b>
      <small>{t("timeLeft", { span: say.span(ends - Date.now()) })}</small>
    </p>
  );
}

function useAppearance(): MenuItem[] {
  const t = useTexts("shell");
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (now: Theme) => () => {
    applyTheme(now);
    setTheme(now);
  };
  const item = (key: Theme, label: string, icon: MenuItem["icon"]): MenuItem => ({ key, label, icon, checked: theme === key, onSelect: choose(key), stays: true });
  return [{ ...item("system", t("themeSystem"), "settings"), ruled: true }, item("light", t("themeLight"), "sun"), item("dark", t("themeDark"), "moon")];
}

function useLanguages(): MenuItem[] {
  const { language, speak } = useLanguage();
  return (Object.keys(languages) as Language[]).map((l, i) => ({
    key: l,
    label: languages[l],
    checked: l === language,
    onSelect: () => void speak(l),
    ruled: i === 0,
    stays: true,
  }));
}

function useKeyItems(onKeys: () => void): MenuItem[] {
  const t = useTexts("shell");
  const [on, setOn] = useState(singleKeysOn);
  const toggle = () => {
    setSingleKeys(!on);
    setOn(!on);
  };
  return [
    { key: "letters", label: t("singleKeys"), checked: on, onSelect: toggle, stays: true, ruled: true },
    { key: "keys", label: t("keys"), detail: <kbd>?</kbd>, onSelect: onKeys },
  ];
}

function useSignOutItem(): MenuItem {
  const t = useTexts("shell");
  const navigate = useNavigate();
  const { mutateAsync } = useSignOut();
  const leave = async () => {
    await navigate("/sign-in", { replace: true }); // first, so that nothing of the page asks without a session
    await mutateAsync().catch(() => undefined); // a session that has ended is ended
  };
  return { key: "out", label: t("signOut"), icon: "signout", onSelect: () => void leave(), ruled: true };
}
