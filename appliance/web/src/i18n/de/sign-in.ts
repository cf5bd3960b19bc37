import type en from "../en/sign-in";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  windowTitle: "Anmelden · Kubehenge",
  title: "Anmelden",
  lede: "Mit Ihrem Konto in Proxmox VE.",
  user: "Benutzername",
  password: "Passwort",
  realm: "Realm",
  signIn: "Anmelden",
  continueWith: "Weiter mit {realm}",
  openIDNote: "Ihr Anbieter fragt, wer Sie sind; dann kommen Sie hierher zurück.",
  wrong: "Benutzername, Passwort oder Code stimmt nicht.",
  openIDFailed: "Ihr Anbieter hat Sie nicht eingelassen, oder es dauerte zu lange. Versuchen Sie es erneut.",
  wait: { one: "Zu viele Versuche. Noch {n} Sekunde warten.", other: "Zu viele Versuche. Noch {n} Sekunden warten." },
  tooMany: "Zu viele Versuche.",
  secondTitle: "Zweiter Faktor",
  secondOne: "Geben Sie einen Code für {user} ein.",
  secondSeveral: "Geben Sie einen Code für {user} ein, oder nehmen Sie einen anderen Faktor.",
  totpLabel: "Sechsstelliger Code",
  yubicoLabel: "Code Ihres YubiKeys",
  recoveryLabel: "Wiederherstellungsschlüssel",
  useTotp: "Code aus der App nehmen",
  useYubico: "YubiKey nehmen",
  useRecovery: "Wiederherstellungsschlüssel nehmen",
  moreDigits: { one: "Noch eine Ziffer.", other: "Noch {n} Ziffern." },
  typeFirst: "Geben Sie ihn zuerst ein.",
  continue: "Weiter",
  back: "Zurück",
};
export default texts;
