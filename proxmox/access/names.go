package access

import "strings"

// The users and tokens that Kubehenge runs as.
const (
	ProviderUser   = "kubehenge-provider@pve"
	ProviderToken  = "kubehenge-provider@pve!capmox"
	AgentUser      = "kubehenge-agent@pve"
	AgentToken     = "kubehenge-agent@pve!agent"
	HAUser         = "kubehenge-ha@pve"
	HAToken        = "kubehenge-ha@pve!ha"
	ApplianceUser  = "kubehenge-appliance@pve"
	ApplianceToken = "kubehenge-appliance@pve!appliance"
)

// ClustersGroup is the group of the users that clusters have.
const ClustersGroup = "kubehenge-clusters"

// The roles of a cluster's user and token.
const (
	// ClusterRole is theirs on the cluster's own pool.
	ClusterRole = "KubehengeCluster"
	// SharedRole is theirs on what all clusters share.
	SharedRole = "KubehengeShared"
)

// Identity is a user of Kubehenge's with its one token.
type Identity struct {
	// User is user@realm, Token user@realm!name.
	User, Token string
	// Comment is the text people see beside the user.
	Comment string
}

// TokenName is the token's name without its user's.
func (i Identity) TokenName() string { return i.Token[len(i.User)+1:] }

// Identities are the users that exist once. Clusters have one each, which the agent makes.
func Identities(p Place) []Identity {
	list := []Identity{
		{ProviderUser, ProviderToken, "Kubehenge: Cluster API's provider, makes and deletes machines"},
		{AgentUser, AgentToken, "Kubehenge: the agent, makes each cluster's pool, user and rights"},
	}
	if p.HA {
		list = append(list, Identity{HAUser, HAToken, "Kubehenge: the agent, for high availability alone"})
	}
	return append(list, Identity{ApplianceUser, ApplianceToken, "Kubehenge: the appliance, reads which pools and VNets there are"})
}

// Name is what people call it: provider, agent, ha or appliance.
func (i Identity) Name() string {
	name, _, _ := strings.Cut(i.User, "@")
	return strings.TrimPrefix(name, "kubehenge-")
}
