package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"kubehenge.dev/api/v1alpha1"
)

// ValidateTopology looks at a cluster's templates after all patches. What it refuses is not applied, and what is live
// stays as it is.
func ValidateTopology(_ context.Context, q *hooksv1.ValidateTopologyRequest, r *hooksv1.ValidateTopologyResponse) {
	r.SetStatus(hooksv1.ResponseStatusSuccess)
	cluster, err := clusterOf(q.Variables)
	if err != nil {
		r.SetStatus(hooksv1.ResponseStatusFailure)
		r.SetMessage(err.Error())
		return
	}
	for _, item := range q.Items {
		if !isTemplate(item.Object, machineTemplate) {
			continue
		}
		template, err := decode(item.Object)
		if err != nil {
			continue // isTemplate has decoded it
		}
		for _, rule := range machineRules {
			if why := rule.broken(cluster, template); why != "" {
				r.SetStatus(hooksv1.ResponseStatusFailure)
				r.SetMessage(why)
				return
			}
		}
	}
}

// machineRule is a named rule for templates of machines; it says what is wrong.
type machineRule struct {
	name   string
	broken func(about, *unstructured.Unstructured) string
}

// machineRules are held for each template of machines.
var machineRules = []machineRule{
	// A patch whose selector names a version of the provider's API that the class's templates are no longer read in
	// matches nothing, without an error (https://github.com/kubernetes-sigs/cluster-api/issues/7212): all machines
	// would be replaced by ones without network, size and pool.
	{"every patch of the class has been applied", func(_ about, t *unstructured.Unstructured) string {
		tags, _, _ := unstructured.NestedStringSlice(t.Object, "spec", "template", "spec", "templateSelector", "matchTags")
		if slices.Contains(tags, placeholder) || len(poolOf(t)) == 0 {
			return "the class's patches do not match its machine templates any more: the provider's API has another version than they name"
		}
		return ""
	}},
	{"machines go into the cluster's own pool", func(c about, t *unstructured.Unstructured) string {
		own := v1alpha1.ClusterTag(c.namespace, c.name)
		if pool := poolOf(t); !strings.HasSuffix(pool, "/"+own) {
			return fmt.Sprintf("machines of %s/%s may not go into the Proxmox VE pool %s: it is not the cluster's own", c.namespace, c.name, pool)
		}
		return ""
	}},
	{"no machine template lists nodes", func(_ about, t *unstructured.Unstructured) string {
		if _, found, _ := unstructured.NestedFieldNoCopy(t.Object, "spec", "template", "spec", "allowedNodes"); found {
			return "a machine template lists Proxmox VE nodes: every machine would be replaced whenever a node comes or goes"
		}
		return ""
	}},
}

// placeholder stands in classes' templates where capmox wants a value and a patch brings the real one.
const placeholder = "placeholder"

func poolOf(t *unstructured.Unstructured) string {
	pool, _, _ := unstructured.NestedString(t.Object, "spec", "template", "spec", "pool")
	return pool
}
