// Package access answers for users, tokens, groups, roles, ACLs, realms with their directories, second factors and OpenID.
package access

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of users, tokens, groups, roles, ACLs and realms.
func Endpoints() []*core.Endpoint {
	return slices.Concat(accessEndpoints(), aclEndpoints(), userEndpoints(), tfaEndpoints(), realmEndpoints(), openIDEndpoints(), syncEndpoints())
}
