import { createBrowserRouter, type LoaderFunctionArgs, redirect, type RouteObject } from "react-router";
import { isApiError, queryClient, sessionQuery } from "@/api";
import { Broken, Starting } from "@/shell/Broken";

/** What a route says about itself: forms, review and delete fold the log. */
export interface Handle {
  foldsLog?: boolean;
}

/** Everything but sign-in needs a session; whoever has none comes back to the same address after signing in. */
async function needsSession({ request }: LoaderFunctionArgs) {
  try {
    return await queryClient.ensureQueryData(sessionQuery);
  } catch (error) {
    if (isApiError(error, 401)) throw redirect(signInAddress(new URL(request.url)));
    throw error;
  }
}

/** The address of sign-in from a page. */
export function signInAddress(from: Pick<URL, "pathname" | "search">): string {
  const to = from.pathname + from.search;
  return to === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(to)}`;
}

const folded: Handle = { foldsLog: true };

/** The tabs of a cluster's page. */
const clusterTabs: RouteObject[] = [
  { index: true, lazy: () => import("@/pages/cluster/overview") },
  { path: "nodes", lazy: () => import("@/pages/cluster-nodes") },
  { path: "changes", handle: folded, lazy: () => import("@/pages/cluster-changes") },
  { path: "access", lazy: () => import("@/pages/cluster-access") },
  { path: "events", lazy: () => import("@/pages/cluster-events") },
  { path: "file", handle: folded, lazy: () => import("@/pages/cluster-file") },
];

/** The pages, which appliance/page.go answers with the same document. What is added here is added there. */
export const routes: RouteObject[] = [
  { path: "/sign-in", lazy: () => import("@/pages/sign-in"), ErrorBoundary: Broken, HydrateFallback: Starting },
  {
    path: "/",
    loader: needsSession,
    shouldRevalidate: () => false,
    lazy: () => import("@/shell"),
    ErrorBoundary: Broken,
    HydrateFallback: Starting,
    children: [
      {
        ErrorBoundary: Broken,
        children: [
          { index: true, lazy: () => import("@/pages/home") },
          { path: "clusters", lazy: () => import("@/pages/clusters") },
          { path: "clusters/new", handle: folded, lazy: () => import("@/pages/new-cluster") },
          { path: "clusters/:namespace/:name", lazy: () => import("@/pages/cluster"), children: clusterTabs },
          { path: "clusters/:namespace/:name/scale", handle: folded, lazy: () => import("@/pages/scale") },
          { path: "clusters/:namespace/:name/upgrade", handle: folded, lazy: () => import("@/pages/upgrade") },
          { path: "clusters/:namespace/:name/delete", handle: folded, lazy: () => import("@/pages/delete") },
          { path: "changes", handle: folded, lazy: () => import("@/pages/changes") },
          { path: "changes/:commit", handle: folded, lazy: () => import("@/pages/change") },
          { path: "repository", lazy: () => import("@/pages/repository") },
          { path: "capacity", lazy: () => import("@/pages/capacity") },
          { path: "audit", lazy: () => import("@/pages/audit") },
          { path: "*", handle: folded, lazy: () => import("@/pages/not-found") },
        ],
      },
    ],
  },
];

export const makeRouter = () => createBrowserRouter(routes);
