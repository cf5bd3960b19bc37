package access

// appliance is what the appliance needs for itself. Whatever people do there they do with their own session, so that its
// token changes nothing and sees no machine.
var appliance = []Grant{
	{
		Role: "KubehengeAppliance", User: ApplianceUser, Token: ApplianceToken, Propagate: true, Paths: pool(workloadPool),
		Needs: []Need{{"Pool.Audit", "GET /pools", "know which clusters have a pool of their own, so that people's rights take one question and not one a cluster"}},
	},
	{
		Role: "KubehengeApplianceZones", User: ApplianceUser, Token: ApplianceToken, Propagate: true, Paths: at("/sdn/zones"),
		Needs: []Need{{"SDN.Audit", "GET /cluster/sdn/vnets", "know in which zone a VNet is, whose path says who may use it"}},
	},
}
