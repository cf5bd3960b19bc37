/** Light, dark, or as the system says. */
export type Theme = "system" | "light" | "dark";

const kept = "kubehenge.theme";

export function chosenTheme(): Theme {
  const theme = localStorage.getItem(kept);
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** Draws the page in a theme, and keeps it where one is given. */
export function applyTheme(theme = chosenTheme()): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem(kept, theme);
}
