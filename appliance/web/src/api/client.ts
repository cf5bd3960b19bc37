import type { Failure } from "./types";

/** An answer that is not a success. status is 0 when nothing answered at all. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: Failure;

  constructor(status: number, body: Failure) {
    super(body.error);
    this.name = "ApiError";
    this.status = status;
    this.body = body;
  }
}

/** Tells whether an error is the API's, with one of the given statuses where some are given. */
export function isApiError(error: unknown, ...statuses: number[]): error is ApiError {
  return error instanceof ApiError && (statuses.length === 0 || statuses.includes(error.status));
}

/** The CSRF token of the session. It lives in memory only; the session's cookie is out of reach of scripts. */
let token = "";

export function setToken(csrf: string): void {
  token = csrf;
}

type Method = "GET" | "POST" | "DELETE";

async function call(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-Kubehenge-CSRF"] = token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: "same-origin" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { error: "" });
  }
  if (!response.ok) throw new ApiError(response.status, await failureOf(response));
  return response;
}

/** Every error of the API has a body; one of a proxy before it may not. */
async function failureOf(response: Response): Promise<Failure> {
  try {
    const body = (await response.json()) as Partial<Failure>;
    return { ...body, error: body.error ?? `${response.status} ${response.statusText}` };
  } catch {
    return { error: `${response.status} ${response.statusText}` };
  }
}

async function json<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return json<T>(await call("GET", path, undefined, signal));
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return json<T>(await call("POST", path, body, signal));
}

export async function remove(path: string): Promise<void> {
  await call("DELETE", path);
}

/** A file that the server hands out and that is never kept: its content and the name it should have. */
export async function postForFile(path: string): Promise<{ name: string; content: Blob }> {
  const response = await call("POST", path, {});
  const name = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { name: name ?? "kubeconfig.yaml", content: await response.blob() };
}

/** The path of a cluster in the API, with its parts escaped. */
export function clusterPath(namespace: string, name: string): string {
  return `/api/clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}
