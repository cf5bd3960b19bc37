package cli

import (
	"fmt"
	"strings"

	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/render/told"
)

// dying says which volumes die with a cluster, as a clause, and lists them below it with why there may be more.
func dying(v *cluster.Volumes) (clause, list string) {
	var b strings.Builder
	for _, one := range v.Volumes {
		fmt.Fprintf(&b, "  %s, %s\n", printable(one.ID), told.Bytes(one.SizeBytes))
	}
	for _, g := range v.Gaps {
		fmt.Fprintf(&b, "There may be volumes that are not listed: %s.\n", printable(strings.TrimSuffix(g.Message, ".")))
	}
	switch n := len(v.Volumes); {
	case len(v.Gaps) > 0:
		clause = "every volume that it made"
	case n == 0:
		clause = "no volume, since it has none"
	case n == 1:
		clause = "its volume of " + told.Bytes(v.SizeBytes).String()
	default:
		clause = fmt.Sprintf("its %d volumes, %s in all", n, told.Bytes(v.SizeBytes))
	}
	return clause, b.String()
}
