package appliance

import "net/http"

// access is who may call a route at all.
type access int

const (
	// anyone needs no session.
	anyone access = iota
	// signedIn needs a session.
	signedIn
	// seesCluster needs a session and VM.Audit on the pool of the cluster in the path; without it the cluster is not found.
	seesCluster
	// administers needs a session and Sys.Modify on the workload pool.
	administers
	// readsRepository needs a session and VM.Audit on the workload pool.
	readsRepository
)

// route is one line of the API. What changes something (every method but GET) needs the session's CSRF token too. Privileges that depend on the change
// itself are asked for by appliance/commit, with the rules of render/permission; they are named here for the reader.
type route struct {
	method, path string
	access       access
	privileges   string
	handle       func(*request) (any, error)
}

// routes are the whole API.
var routes = []route{
	{http.MethodGet, "/api/openapi.json", anyone, "", showDocument},

	{http.MethodGet, "/api/realms", anyone, "", listRealms},
	{http.MethodPost, "/api/session", anyone, "", signIn},
	{http.MethodGet, "/api/session", signedIn, "", showSession},
	{http.MethodDelete, "/api/session", signedIn, "", signOut},
	{http.MethodGet, "/api/openid/{realm}", anyone, "", beginOpenID},
	{http.MethodGet, "/api/openid/callback", anyone, "", finishOpenID},

	{http.MethodGet, "/api/fleet", signedIn, "VM.Audit on each cluster's pool, for what is said of it", showFleet},
	{http.MethodGet, "/api/capacity", signedIn, "what Proxmox VE shows the person", showCapacity},
	{http.MethodGet, "/api/tasks", signedIn, "what Proxmox VE shows the person", listTasks},
	{http.MethodGet, "/api/clusters", signedIn, "VM.Audit on each cluster's pool", listClusters},
	{http.MethodPost, "/api/clusters", signedIn, "VM.Allocate on the workload pool, Datastore.AllocateSpace, SDN.Use", createCluster},
	{http.MethodPost, "/api/clusters/preview", signedIn, "", previewCluster},
	{http.MethodGet, "/api/clusters/{namespace}/{name}", seesCluster, "", showCluster},
	{http.MethodGet, "/api/clusters/{namespace}/{name}/volumes", seesCluster, "what Proxmox VE shows the person", listVolumes},
	{http.MethodPost, "/api/clusters/{namespace}/{name}/change", seesCluster, "VM.Allocate on the cluster's pool", changeCluster},
	{http.MethodPost, "/api/clusters/{namespace}/{name}/scale", seesCluster, "VM.Allocate on the cluster's pool", scaleCluster},
	{http.MethodPost, "/api/clusters/{namespace}/{name}/upgrade", seesCluster, "VM.Allocate on the cluster's pool", upgradeCluster},
	{http.MethodPost, "/api/clusters/{namespace}/{name}/plan", seesCluster, "", planChange},
	{http.MethodPost, "/api/clusters/{namespace}/{name}/delete", seesCluster, "VM.Allocate on the cluster's pool", deleteCluster},
	{http.MethodPost, "/api/clusters/{namespace}/{name}/undo", seesCluster, "VM.Allocate on the pool of every cluster that the commit changed", undoCommit},

	{http.MethodPost, "/api/clusters/{namespace}/{name}/kubeconfig", seesCluster, "Sys.Modify on the cluster's pool", downloadKubeconfig},

	{http.MethodGet, "/api/events", signedIn, "", streamEvents},

	{http.MethodGet, "/api/clusters/{namespace}/{name}/changes", seesCluster, "", listClusterChanges},
	{http.MethodGet, "/api/changes", signedIn, "VM.Audit on the pool of a cluster that the commit touched", listChanges},
	{http.MethodGet, "/api/changes/{commit}", signedIn, "VM.Audit on the pool of a cluster that the commit touched", showChange},
	{http.MethodGet, "/api/repository", readsRepository, "", showRepository},

	{http.MethodGet, "/api/audit", administers, "", showAudit},
}
