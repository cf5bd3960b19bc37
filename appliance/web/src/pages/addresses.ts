/** clusterAddress is the address of a cluster's page, or of one below it. */
export function clusterAddress(namespace: string, name: string, below = ""): string {
  const page = `/clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return below === "" ? page : `${page}/${below}`;
}

/** namespaceAddress is the list of a namespace's clusters. */
export function namespaceAddress(namespace: string): string {
  return `/clusters?q=${encodeURIComponent(`namespace:${namespace}`)}`;
}

/** changeAddress is the page of a commit. */
export function changeAddress(commit: string): string {
  return `/changes/${commit}`;
}
