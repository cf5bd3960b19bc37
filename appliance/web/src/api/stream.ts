import type { QueryClient } from "@tanstack/react-query";
import type { Topic } from "./types";

/** How long to wait before a stream that the server has closed is opened again, in milliseconds. */
const again = 10_000;

/** How often is asked without a stream, in milliseconds. */
const without = 15_000;

/**
 * Listens to the server's events and marks as old what they name. After a gap everything is marked, since nobody knows what was missed; while there is no
 * stream the page asks by the clock. Gives back a function that ends it.
 */
export function listen(client: QueryClient): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let gap = false;
  const poll = setInterval(() => {
    if (source?.readyState !== EventSource.OPEN) renew(client, topics);
  }, without);

  const open = () => {
    source = new EventSource("/api/events");
    source.addEventListener("open", () => {
      if (gap) renew(client, topics);
      gap = false;
    });
    source.addEventListener("changed", (event) => renew(client, named(event)));
    source.addEventListener("error", () => {
      gap = true;
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, again);
    });
  };
  open();
  return () => {
    clearInterval(poll);
    clearTimeout(timer);
    source?.close();
  };
}

const topics: readonly Topic[] = ["clusters", "fleet", "changes", "tasks"];

/** The topics of an event; all of them when it cannot be read. */
export function named(event: Pick<MessageEvent<string>, "data">): readonly Topic[] {
  try {
    const { what } = JSON.parse(event.data) as { what?: Topic[] };
    return what ?? topics;
  } catch {
    return topics;
  }
}

function renew(client: QueryClient, what: readonly Topic[]): void {
  for (const topic of what) void client.invalidateQueries({ queryKey: [topic] });
}
