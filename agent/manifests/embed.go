// Package manifests holds what the agent needs of the management cluster before it starts: its namespace, its
// ServiceAccount, and the least privileges that its work takes.
package manifests

import "embed"

// Files are the manifests, to be applied in the order of their names.
//
//go:embed *.yaml
var Files embed.FS

// Deployment runs the agent inside of the management cluster: two replicas, their Service, and the certificate of the
// hooks. Its ConfigMap is to be filled in, and its image named.
//
//go:embed deployment/*.yaml
var Deployment embed.FS
