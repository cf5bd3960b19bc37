package simulator

import "slices"

// accessArea are the calls of users, tokens, groups, roles, ACLs and realms.
func accessArea() []*endpoint {
	return slices.Concat(accessEndpoints(), aclEndpoints(), userEndpoints(), tfaEndpoints(), realmEndpoints(), openIDEndpoints(), syncEndpoints())
}
