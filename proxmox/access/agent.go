package access

// agent is what the agent needs. It may hand out a cluster's roles because it holds their privileges itself: without
// Permissions.Modify, Proxmox VE lets nobody give more than they have (pve-access-control PVE/API2/ACL.pm).
var agent = []Grant{
	{
		Role: "KubehengeAgent", User: AgentUser, Token: AgentToken, Propagate: true, Paths: pool(workloadPool),
		Needs: []Need{
			{"Pool.Allocate", "POST /pools", "make the clusters' pools, write their comments, give each cluster its rights there; delete them"},
			{"Pool.Audit", "GET /pools", "read the pools with the allocations in their comments"},
			{"VM.Audit", "GET /cluster/resources", "see which machines are there, and where"},
			{"VM.Allocate", "POST /nodes/{node}/qemu", "make the VM that owns a cluster's volumes; delete it, and what kubehenge gc was told to delete"},
			{"VM.Config.Memory", "POST /nodes/{node}/qemu", "give the owner VM next to no memory, so that it takes none from placement"},
			{"VM.Config.Options", "POST /nodes/{node}/qemu", "give the owner VM its name, tags and notes"},
			{"VM.Config.Disk", "PUT /nodes/{node}/qemu/{vmid}/config", "delete a volume as an unused disk of its owner VM; hand out to clusters"},
			{"VM.Migrate", "POST /nodes/{node}/qemu/{vmid}/migrate", "move the owner VM to the node whose local storage has a volume to delete"},
			{"VM.PowerMgmt", "POST /nodes/{node}/qemu/{vmid}/status/stop", "stop what kubehenge gc was told to delete"},
			{"Datastore.AllocateSpace", "PUT /nodes/{node}/qemu/{vmid}/config", "delete a volume as an unused disk, on the workload pool's storages; hand out to clusters"},
			{"Datastore.Audit", "GET /nodes/{node}/storage/{storage}/content", "list the volumes on the workload pool's storages; hand out to clusters"},
		},
	},
	{
		Role: "KubehengeAgentTemplates", User: AgentUser, Token: AgentToken, Propagate: true, Paths: pool(templatePool),
		Needs: []Need{{"VM.Audit", "GET /cluster/resources", "see for which Kubernetes versions there are templates"}},
	},
	{
		Role: "KubehengeAgentNodes", User: AgentUser, Token: AgentToken, Propagate: true, Paths: at("/nodes"),
		Needs: []Need{{"Sys.Audit", "GET /nodes", "read how much memory nodes have, to place machines where there is room"}},
	},
	{
		Role: "KubehengeAgentUsers", User: AgentUser, Token: AgentToken, Paths: at("/access/groups/" + ClustersGroup),
		Needs: []Need{{"User.Modify", "POST /access/users", "make, change and delete the clusters' users and tokens: those of this group and no others"}},
	},
	{
		Role: "KubehengeAgentRealm", User: AgentUser, Token: AgentToken, Paths: at("/access/realm/pve"),
		Needs: []Need{{"Realm.AllocateUser", "POST /access/users", "have those users in Proxmox VE's own realm"}},
	},
}
