package access

// provider is what Cluster API's provider needs. Found with the provider's own calls on Proxmox VE 9.2: with exactly
// these it creates and deletes a machine.
var provider = []Grant{
	{
		Role: "KubehengeProvider", User: ProviderUser, Token: ProviderToken, Propagate: true, Paths: pool(workloadPool),
		Needs: []Need{
			{"VM.Allocate", "POST /nodes/{node}/qemu/{vmid}/clone", "clone into the cluster's pool; delete machines"},
			{"VM.Audit", "GET /nodes/{node}/qemu/{vmid}/status/current", "read status and configuration of machines"},
			{"VM.Config.CPU", "POST /nodes/{node}/qemu/{vmid}/config", "set cores and sockets"},
			{"VM.Config.Memory", "POST /nodes/{node}/qemu/{vmid}/config", "set memory"},
			{"VM.Config.Network", "POST /nodes/{node}/qemu/{vmid}/config", "set network cards"},
			{"VM.Config.Disk", "PUT /nodes/{node}/qemu/{vmid}/resize", "grow the disk; set the boot order"},
			{"VM.Config.Options", "POST /nodes/{node}/qemu/{vmid}/config", "set tags and description"},
			{"VM.Config.CDROM", "POST /nodes/{node}/qemu/{vmid}/config", "put the bootstrap ISO in, and take it out"},
			{"VM.PowerMgmt", "POST /nodes/{node}/qemu/{vmid}/status/start", "start and stop machines"},
			{"VM.GuestAgent.Unrestricted", "GET /nodes/{node}/qemu/{vmid}/agent/get-osinfo", "ask cloud-init in the machine whether it is done"},
		},
	},
	{
		Role: "KubehengeProviderTemplates", User: ProviderUser, Token: ProviderToken, Propagate: true, Paths: pool(templatePool),
		Needs: []Need{
			{"VM.Audit", "GET /cluster/resources", "find the template, and read it"},
			{"VM.Clone", "POST /nodes/{node}/qemu/{vmid}/clone", "clone it"},
		},
	},
	{
		Role: "KubehengeProviderDisks", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return below("/storage/", p.Disks) },
		Needs: []Need{{"Datastore.AllocateSpace", "POST /nodes/{node}/qemu/{vmid}/clone", "have the clone's disks there; grow them"}},
	},
	{
		Role: "KubehengeProviderISO", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return []string{"/storage/" + p.ISO} },
		Needs: []Need{
			{"Datastore.Audit", "GET /nodes/{node}/storage", "find the storage for ISOs"},
			{"Datastore.AllocateTemplate", "POST /nodes/{node}/storage/{storage}/upload", "upload the bootstrap ISO"},
			{"Datastore.Allocate", "DELETE /nodes/{node}/storage/{storage}/content/{volume}", "delete the bootstrap ISO"},
		},
	},
	{
		Role: "KubehengeProviderNodes", User: ProviderUser, Token: ProviderToken, Propagate: true, Paths: at("/nodes"),
		Needs: []Need{{"Sys.Audit", "GET /nodes/{node}/status", "the provider asks it before each call on a machine"}},
	},
	{
		Role: "KubehengeProviderNetwork", User: ProviderUser, Token: ProviderToken, Propagate: true,
		Paths: func(p Place) []string { return below("/sdn/zones/", p.Bridges) },
		Needs: []Need{{"SDN.Use", "POST /nodes/{node}/qemu/{vmid}/config", "put network cards on the bridge or VLAN; clone a template with a card there"}},
	},
}
