import { QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { clusterPath, get, isApiError, post, setToken } from "./client";
import type * as T from "./types";

/** Where queries are kept. Each begins with the topic of the stream of events that makes it old. */
export const keys = {
  session: ["session"],
  realms: ["realms"],
  fleet: ["fleet"],
  clusters: ["clusters"],
  cluster: (namespace: string, name: string) => ["clusters", namespace, name],
  volumes: (namespace: string, name: string) => ["volumes", namespace, name],
  changes: (limit: number) => ["changes", "all", limit],
  change: (commit: string) => ["changes", "one", commit],
  clusterChanges: (namespace: string, name: string, limit: number) => ["changes", "of", namespace, name, limit],
  repository: ["changes", "repository"],
  capacity: ["fleet", "capacity"],
  tasks: ["tasks"],
  audit: (limit: number) => ["audit", limit],
  preview: (draft: unknown) => ["preview", draft],
  plan: (namespace: string, name: string, fields: T.Field[]) => ["plan", namespace, name, fields],
} as const;

/** Called with every failure of a query, so that an ended session leads to sign-in from anywhere. */
let onFailure: (error: unknown) => void = () => {};

export function whenQueryFails(handle: (error: unknown) => void): void {
  onFailure = handle;
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => onFailure(error) }),
  defaultOptions: {
    queries: {
      // The stream of events says what is old. This is only for what it cannot know, such as what Proxmox VE's administrators change.
      staleTime: 30_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => failures < 2 && (!isApiError(error) || error.status === 0 || error.status >= 502),
    },
  },
});

export const sessionQuery = queryOptions({
  queryKey: keys.session,
  staleTime: 5 * 60_000,
  queryFn: async ({ signal }) => {
    const session = await get<T.Session>("/api/session", signal);
    setToken(session.csrf);
    return session;
  },
});

export const realmsQuery = queryOptions({
  queryKey: keys.realms,
  queryFn: async ({ signal }) => (await get<{ realms: T.Realm[] }>("/api/realms", signal)).realms,
});

export const fleetQuery = queryOptions({ queryKey: keys.fleet, queryFn: ({ signal }) => get<T.Fleet>("/api/fleet", signal) });

export const clustersQuery = queryOptions({ queryKey: keys.clusters, queryFn: ({ signal }) => get<T.ClustersAnswer>("/api/clusters", signal) });

export const clusterQuery = (namespace: string, name: string) =>
  queryOptions({ queryKey: keys.cluster(namespace, name), queryFn: ({ signal }) => get<T.ClusterAnswer>(clusterPath(namespace, name), signal) });

/** What Proxmox VE is asked for anew each time, so only where it is needed. */
export const volumesQuery = (namespace: string, name: string) =>
  queryOptions({
    queryKey: keys.volumes(namespace, name),
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }) => get<T.Volumes>(`${clusterPath(namespace, name)}/volumes`, signal),
  });

export const changesQuery = (limit: number) =>
  queryOptions({ queryKey: keys.changes(limit), queryFn: ({ signal }) => get<T.ChangesAnswer>(`/api/changes?limit=${limit}`, signal) });

export const changeQuery = (commit: string) =>
  queryOptions({ queryKey: keys.change(commit), queryFn: ({ signal }) => get<T.Change>(`/api/changes/${encodeURIComponent(commit)}`, signal) });

export const clusterChangesQuery = (namespace: string, name: string, limit: number) =>
  queryOptions({
    queryKey: keys.clusterChanges(namespace, name, limit),
    queryFn: ({ signal }) => get<T.ChangesAnswer>(`${clusterPath(namespace, name)}/changes?limit=${limit}`, signal),
  });

export const repositoryQuery = queryOptions({ queryKey: keys.repository, queryFn: ({ signal }) => get<T.Repository>("/api/repository", signal) });

export const capacityQuery = queryOptions({ queryKey: keys.capacity, queryFn: ({ signal }) => get<T.Capacity>("/api/capacity", signal) });

export const tasksQuery = queryOptions({ queryKey: keys.tasks, queryFn: async ({ signal }) => (await get<{ tasks: T.Task[] }>("/api/tasks", signal)).tasks });

export const auditQuery = (limit: number) =>
  queryOptions({
    queryKey: keys.audit(limit),
    queryFn: async ({ signal }) => (await get<{ events: T.AuditEvent[] }>(`/api/audit?limit=${limit}`, signal)).events,
  });

/** What a new cluster needs, whether it fits, and its file, as one types. */
export const previewQuery = (draft: { namespace: string; name: string; spec: T.SpecDraft }) =>
  queryOptions({
    queryKey: keys.preview(draft),
    staleTime: 10_000,
    gcTime: 60_000,
    queryFn: ({ signal }) => post<T.Preview>("/api/clusters/preview", draft, signal),
  });

/** What a change of a cluster's fields does to which machine. */
export const planQuery = (namespace: string, name: string, fields: T.Field[]) =>
  queryOptions({
    queryKey: keys.plan(namespace, name, fields),
    staleTime: 10_000,
    gcTime: 60_000,
    queryFn: ({ signal }) => post<T.Plan>(`${clusterPath(namespace, name)}/plan`, { fields }, signal),
  });
