/** Where to go after sign-in: the page one came from, and nothing outside of this site. */
export function safePlace(to: string | null): string {
  return to && /^\/(?![/\\])/.test(to) && !to.startsWith("/sign-in") ? to : "/";
}

/** The user as Proxmox VE knows it: with the realm behind it, unless it was typed with one. */
export function userOf(typed: string, realm: string, realms: readonly string[]): string {
  const name = typed.trim();
  return realms.some((r) => name.endsWith(`@${r}`)) ? name : `${name}@${realm}`;
}
