import { keepPreviousData, useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { clusterPath, post, postForFile, remove, setToken } from "./client";
import * as q from "./queries";
import type * as T from "./types";

/** The session of the person; only below the shell, which has asked for it. */
export const useSession = (): T.Session => useSuspenseQuery(q.sessionQuery).data;

export const useRealms = () => useQuery(q.realmsQuery);
export const useFleet = () => useQuery(q.fleetQuery);
export const useClusters = () => useQuery(q.clustersQuery);
export const useCluster = (namespace: string, name: string) => useQuery(q.clusterQuery(namespace, name));
export const useVolumes = (namespace: string, name: string) => useQuery(q.volumesQuery(namespace, name));
export const useChanges = (limit = 50) => useQuery(q.changesQuery(limit));
export const useChange = (commit: string | undefined) => useQuery({ ...q.changeQuery(commit ?? ""), enabled: Boolean(commit) });
/** The newest changes of a cluster; a larger limit keeps the shorter list on the page until the longer one is there. */
export const useClusterChanges = (namespace: string, name: string, limit = 50) =>
  useQuery({ ...q.clusterChangesQuery(namespace, name, limit), placeholderData: keepPreviousData });
export const useRepository = () => useQuery(q.repositoryQuery);
export const useCapacity = () => useQuery(q.capacityQuery);
export const useTasks = () => useQuery(q.tasksQuery);
export const useAudit = (limit = 100) => useQuery({ ...q.auditQuery(limit), placeholderData: keepPreviousData });

/** The preview of a new cluster; undefined asks for none. The last one stays while the next is on its way, so that nothing flickers as one types. */
export const usePreview = (draft: { namespace: string; name: string; spec: T.SpecDraft } | undefined) =>
  useQuery({
    ...q.previewQuery(draft ?? { namespace: "", name: "", spec: {} }),
    enabled: draft !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  });

/** The plan of a change; no fields ask for none. */
export const usePlan = (namespace: string, name: string, fields: T.Field[]) =>
  useQuery({ ...q.planQuery(namespace, name, fields), enabled: fields.length > 0, placeholderData: keepPreviousData, retry: false });

export interface Credentials {
  user: string;
  password: string;
  factor?: T.FactorKind;
  code?: string;
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Credentials) => post<T.Session>("/api/session", { factor: "", code: "", ...body }),
    onSuccess: (session) => {
      client.clear(); // what another person may have seen before
      setToken(session.csrf);
      client.setQueryData(q.keys.session, session);
    },
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => remove("/api/session"),
    onSettled: () => {
      client.clear();
      setToken("");
    },
  });
}

/** A mutation that makes a commit: what it may have changed is asked for again. */
function useCommit<Body>(send: (body: Body) => Promise<T.Committed>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: () =>
      Promise.all(["clusters", "fleet", "changes", "plan", "preview"].map((topic) => client.invalidateQueries({ queryKey: [topic], refetchType: "active" }))),
  });
}

export const useCreateCluster = () =>
  useCommit((body: { namespace: string; name: string; spec: T.SpecDraft }) => post<T.Committed>("/api/clusters", body));

/** base is the commit that the person looked at, so that what somebody else changed meanwhile is told as a conflict. */
export const useScale = (namespace: string, name: string) =>
  useCommit((body: { base: string; pool: string; replicas: number }) => post<T.Committed>(`${clusterPath(namespace, name)}/scale`, body));

export const useUpgrade = (namespace: string, name: string) =>
  useCommit((body: { base: string; version: string }) => post<T.Committed>(`${clusterPath(namespace, name)}/upgrade`, body));

export const useChangeCluster = (namespace: string, name: string) =>
  useCommit((body: { base: string; why: string; fields: T.Field[] }) => post<T.Committed>(`${clusterPath(namespace, name)}/change`, body));

export const useDeleteCluster = (namespace: string, name: string) =>
  useCommit((body: { confirm: string }) => post<T.Committed>(`${clusterPath(namespace, name)}/delete`, body));

export const useUndo = (namespace: string, name: string) =>
  useCommit((body: { commit: string }) => post<T.Committed>(`${clusterPath(namespace, name)}/undo`, body));

/** Fetches the kubeconfig and gives it to the browser to save. The page keeps nothing of it. */
export function useKubeconfig(namespace: string, name: string) {
  return useMutation({
    gcTime: 0,
    mutationFn: async () => {
      const file = await postForFile(`${clusterPath(namespace, name)}/kubeconfig`);
      save(file.name, file.content);
      return file.name;
    },
  });
}

function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
