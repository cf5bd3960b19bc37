// Package clusters holds what a new repository starts with: the Fleet to fill in, and an example cluster.
package clusters

import "embed"

// Files are fleet.yaml and the overlays below examples/.
//
//go:embed fleet.yaml examples
var Files embed.FS
