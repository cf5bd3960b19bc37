package simulator

import "slices"

// accessArea are the calls of users, tokens, groups, roles, ACLs and realms.
func accessArea() []*Endpoint {
	return slices.Concat(accessEndpoints(), aclEndpoints(), userEndpoints(), tfaEndpoints(), realmEndpoints(), openIDEndpoints(), syncEndpoints())
}
