package access

// ha is what high availability needs. Only Sys.Console on / may write the HA manager's configuration
// (pve-ha-manager PVE/API2/HA), so it has a token of its own, and the role does not propagate: on a node,
// Sys.Console opens a shell.
var ha = []Grant{{
	Role: "KubehengeHA", User: HAUser, Token: HAToken, Paths: at("/"),
	Needs: []Need{
		{"Sys.Console", "POST /cluster/ha/resources", "put control-plane machines under HA, take them out, keep the rules that spread them"},
		{"Sys.Audit", "GET /cluster/ha/resources", "read what is under HA, and what the HA manager knows"},
	},
}}
