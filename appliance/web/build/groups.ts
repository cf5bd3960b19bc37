/** What the bundler knows of a module. */
interface Bundling {
  getModuleInfo(id: string): { importers: readonly string[] } | null;
}

/** Our own parts that many pages share, but not fields, which only forms need. */
const isPart = (id: string) => /\/src\/(components|api|styles|i18n\/(index|texts)|shell\/addresses)/.test(id) && !/\/Field\//.test(id);

const isBaseUI = (id: string) => /node_modules\/(@base-ui|@floating-ui|use-sync-external-store)\//.test(id);

/** What only forms have. */
const isOfForms = (id: string) => /\/(number-field\/|collapsible\/|formatNumber|useInterval)/.test(id);

/** Whether every page loads a module at once, or one of its forms. */
function isAtOnce(id: string, bundling: Bundling, seen = new Set<string>()): boolean {
  if (/\/src\/(main|shell\/index)\.tsx$/.test(id)) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return (bundling.getModuleInfo(id)?.importers ?? []).some((importer) => isAtOnce(importer, bundling, seen));
}

/**
 * Which modules go into files that pages share, in place of sixty small ones. What one page alone needs stays with it. Most of Base UI is for what opens over
 * the page: lists, menus, dialogs, tooltips. That is a file of its own, which comes when one of them does.
 */
export const groups = [
  { name: "base", test: /node_modules\/(react|react-dom|scheduler|react-router|cookie|@tanstack)\//, priority: 2 },
  { name: "parts", test: isPart, minShareCount: 5, priority: 1 },
  { name: (id: string, bundling: Bundling) => (isBaseUI(id) && !isOfForms(id) && isAtOnce(id, bundling) ? "primitives" : null), debugName: "primitives", priority: 1 },
  { name: "popups", test: (id: string) => isBaseUI(id) && !isOfForms(id), minShareCount: 2 },
];
