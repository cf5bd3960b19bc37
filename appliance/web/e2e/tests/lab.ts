// What the Go test that started the lab says of it.

/** Somebody who may sign in. */
export interface Account {
  user: string;
  password: string;
  /** The secret of their second factor, in base32. */
  totp?: string;
}

function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: these tests are run by go test ./lab -run TestPage, which starts the lab they need`);
  return value;
}

/** Where the page is. */
export const page = given("KUBEHENGE_PAGE");
/** The browser. */
export const chromium = given("KUBEHENGE_CHROMIUM");
/** The folder that screenshots go to. */
export const artefacts = given("KUBEHENGE_ARTEFACTS");
/** Who may sign in: newcomer, viewer, stranger, careful (with a second factor), administrator. */
export const people = JSON.parse(given("KUBEHENGE_PEOPLE")) as Record<string, Account>;

/** Has the lab do something: stop-api-server, start-api-server. */
export async function lab(what: string): Promise<void> {
  const answer = await fetch(`${given("KUBEHENGE_CONTROL")}/${what}`, { method: "POST" });
  if (!answer.ok) throw new Error(`the lab did not ${what}: ${await answer.text()}`);
}
