package appliance

import (
	_ "embed"
	"net/http"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/view/capacity"
	"kubehenge.dev/appliance/view/change"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/appliance/wire"
)

// document describes the API in OpenAPI 3.1. A test makes it out of routes, descriptions and the types, and fails where it is not what the file says.
//
//go:embed openapi.json
var document []byte

func showDocument(r *request) (any, error) {
	r.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = r.w.Write(document) // the browser is gone
	return answered, nil
}

// description is what the document says of a route beyond its line in routes. Request and answer are values of the bodies' types; nil for none.
type description struct {
	name, summary   string
	request, answer any
}

// media is an answer that is no JSON: its media type, and what it is.
type media struct{ kind, of string }

// descriptions are of all routes, by method and path.
var descriptions = map[string]description{
	"GET /api/openapi.json": {"getDocument", "This document.", nil, media{"application/json", "The document."}},

	"GET /api/realms":          {"listRealms", "The realms that people may sign in to.", nil, wire.Realms{}},
	"POST /api/session":        {"signIn", "Sign in. Where a second factor is wanted, the answer is 401 with factors, and the request is made again with one.", wire.SignIn{}, wire.Session{}},
	"GET /api/session":         {"getSession", "Who is signed in.", nil, wire.Session{}},
	"DELETE /api/session":      {"signOut", "Sign out.", nil, nil},
	"GET /api/openid/{realm}":  {"beginOpenID", "Send the browser to the provider of an OpenID realm.", nil, redirect},
	"GET /api/openid/callback": {"finishOpenID", "Where providers send browsers back to.", nil, redirect},

	"GET /api/fleet":    {"getFleet", "What there is to choose from, how full networks are, and how far the agent is.", nil, fleet.Fleet{}},
	"GET /api/capacity": {"getCapacity", "Nodes and storages as Proxmox VE shows them to the person, networks, and what the clusters of each namespace take.", nil, capacity.Capacity{}},
	"GET /api/tasks":    {"listTasks", "Proxmox VE's tasks that the person may see, the newest first.", nil, wire.Tasks{}},
	"GET /api/events":   {"streamEvents", "What changed, as it changes, until the session ends.", nil, media{"text/event-stream", "Events named changed; their data says what to ask for again."}},

	"GET /api/clusters":                                {"listClusters", "The clusters that the person may see.", nil, wire.Clusters{}},
	"POST /api/clusters":                               {"createCluster", "Create a cluster. An endpoint and ranges that are left out are chosen.", wire.NewCluster{}, commit.Result{}},
	"POST /api/clusters/preview":                       {"previewCluster", "What creating a cluster would commit.", wire.NewCluster{}, wire.Preview{}},
	"GET /api/clusters/{namespace}/{name}":             {"getCluster", "All that is shown of one cluster.", nil, wire.Cluster{}},
	"GET /api/clusters/{namespace}/{name}/volumes":     {"listVolumes", "The volumes of a cluster, which die with it, as Proxmox VE shows them to the person, and why there may be more.", nil, cluster.Volumes{}},
	"POST /api/clusters/{namespace}/{name}/change":     {"changeCluster", "Set fields of a cluster's claim.", wire.Change{}, commit.Result{}},
	"POST /api/clusters/{namespace}/{name}/scale":      {"scaleCluster", "Change the number of nodes of the control plane or of a worker pool.", wire.Scale{}, commit.Result{}},
	"POST /api/clusters/{namespace}/{name}/upgrade":    {"upgradeCluster", "Raise the Kubernetes version.", wire.Upgrade{}, commit.Result{}},
	"POST /api/clusters/{namespace}/{name}/delete":     {"deleteCluster", "Delete a cluster.", wire.Delete{}, commit.Result{}},
	"POST /api/clusters/{namespace}/{name}/undo":       {"undoCommit", "Take back what a commit changed.", wire.Undo{}, commit.Result{}},
	"POST /api/clusters/{namespace}/{name}/plan":       {"planChange", "What a change of a cluster would do, without making it.", wire.Fields{}, wire.Plan{}},
	"POST /api/clusters/{namespace}/{name}/kubeconfig": {"getKubeconfig", "The administrator's kubeconfig of a cluster. It is recorded who got it.", wire.Nothing{}, media{"application/yaml", "The kubeconfig."}},
	"GET /api/clusters/{namespace}/{name}/changes":     {"listClusterChanges", "The commits that touched a cluster, the newest first.", nil, change.List{}},

	"GET /api/changes":          {"listChanges", "The commits that touched something that the person may see, the newest first.", nil, change.List{}},
	"GET /api/changes/{commit}": {"getChange", "One commit, with the diff of the files that the person may see.", nil, change.Change{}},
	"GET /api/repository":       {"getRepository", "Where the repository is and how it stands.", nil, change.Repository{}},
	"GET /api/audit":            {"listEvents", "Who changed what and got which secret, the newest first.", nil, wire.Events{}},
}

// redirect is the answer that sends the browser elsewhere.
var redirect = media{"text/html", "The browser is sent on."}

// accesses are what the document says of who may call a route.
var accesses = map[access]string{
	signedIn:        "Needs a session.",
	seesCluster:     "Needs a session and VM.Audit on the pool of the cluster; without it the cluster is not found.",
	administers:     "Needs a session and Sys.Modify on the workload pool.",
	readsRepository: "Needs a session and VM.Audit on the workload pool.",
}

// statuses are the errors that a route may answer with.
func (r route) statuses() []int {
	var list []int
	if r.access != anyone {
		list = append(list, http.StatusUnauthorized)
	}
	if r.method != http.MethodGet || r.access == administers || r.access == readsRepository {
		list = append(list, http.StatusForbidden)
	}
	if r.access == seesCluster || r.path == "/api/changes/{commit}" {
		list = append(list, http.StatusNotFound)
	}
	if r.access == seesCluster && r.method == http.MethodPost {
		list = append(list, http.StatusConflict, http.StatusUnprocessableEntity)
	}
	return list
}
