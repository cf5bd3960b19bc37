package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/told"
)

// identityCheck looks at one thing of an overlay that its own files decide.
type identityCheck struct {
	name string
	run  func(*built, *teller)
}

var identityChecks = []identityCheck{
	{"the claim is of the kind that is read", checkClaimKind},
	{"namespace and name fit Proxmox VE", checkIdentity},
	{"the namespace is not the platform's own", checkNamespace},
	{"labels and annotations are not the platform's own", checkMetadata},
	{"the other objects are of the kinds that may be there", checkExtras},
}

func checkClaimKind(b *built, tell *teller) {
	if b.claim.APIVersion != v1alpha1.GroupVersion.String() {
		tell.field("apiVersion", "must be %s", v1alpha1.GroupVersion)
	}
}

// maxIdentity is how long namespace and name may be together: a Proxmox VE tag and a pool's last part hold both.
const maxIdentity = 50

func checkIdentity(b *built, tell *teller) {
	for field, value := range map[string]string{"metadata.namespace": b.namespace, "metadata.name": b.name} {
		switch {
		case value == "" && field == "metadata.namespace":
			tell.field(field, "required; set namespace in the kustomization.yaml")
		case value != "" && !label.MatchString(value):
			tell.say(field, saysNameForm, told.Params{"name": strconv.Quote(value)})
		}
	}
	if n := len(b.namespace) + len(b.name); n > maxIdentity {
		tell.say("metadata.name", saysNameLong, told.Params{"most": maxIdentity, "are": n})
	}
}

// ownNamespace matches the namespaces in which the platform itself runs.
var ownNamespace = regexp.MustCompile(`^(default|kube-.*|kubehenge-.*|.*-system)$`)

func checkNamespace(b *built, tell *teller) {
	if ownNamespace.MatchString(b.namespace) {
		tell.say("metadata.namespace", saysNamespaceKept, told.Params{"namespace": b.namespace})
	}
}

// ownKey matches labels and annotations that the agent or Cluster API reads.
var ownKey = regexp.MustCompile(`(^|\.)(kubehenge\.dev|x-k8s\.io)/`)

func checkMetadata(b *built, tell *teller) {
	for field, values := range map[string]map[string]string{"metadata.labels": b.claim.Labels, "metadata.annotations": b.claim.Annotations} {
		for key := range values {
			if ownKey.MatchString(key) {
				tell.field(field+`["`+key+`"]`, "is kept for the platform itself")
			}
		}
	}
}

// extraKinds are the objects besides the claim that an overlay may hold, with their API group.
var extraKinds = map[string]string{
	"HelmChartProxy":     "addons.cluster.x-k8s.io",
	"ClusterResourceSet": "addons.cluster.x-k8s.io",
	"ConfigMap":          "",
	"MachineHealthCheck": "cluster.x-k8s.io",
}

func checkExtras(b *built, tell *teller) {
	for _, o := range b.extras {
		at := teller{sources: b.sources, kind: o.GetKind()}
		group, known := extraKinds[o.GetKind()]
		switch {
		case !known:
			at.field("kind", "no %s may be in an overlay%s", o.GetKind(), problem.DidYouMean(o.GetKind(), extraNames()))
		case o.GroupVersionKind().Group != group:
			at.field("apiVersion", "a %s must be of the group %q", o.GetKind(), group)
		case o.GetNamespace() != b.namespace:
			at.field("metadata.namespace", "%s %s must be in the claim's own namespace %s", o.GetKind(), o.GetName(), b.namespace)
		case strings.HasSuffix(o.GetName(), v1alpha1.CornerObjectSuffix):
			at.field("metadata.name", "%s is kept for what carries a cluster's token; choose a name that does not end in %s", o.GetName(), v1alpha1.CornerObjectSuffix)
		default:
			checkExtraMetadata(o, &at)
		}
		tell.problems = append(tell.problems, at.problems...)
	}
}

func extraNames() []string {
	names := []string{"ClusterClaim"}
	for name := range extraKinds {
		names = append(names, name)
	}
	return names
}

// checkExtraMetadata allows what people write; ownerReferences, finalizers and status belong to controllers.
func checkExtraMetadata(o *unstructured.Unstructured, tell *teller) {
	if _, given := o.Object["status"]; given {
		tell.field("status", "must be left out")
	}
	metadata, _ := o.Object["metadata"].(map[string]any)
	for name := range metadata {
		if !slices.Contains([]string{"name", "namespace", "labels", "annotations"}, name) {
			tell.field("metadata."+name, "must be left out")
		}
	}
	for _, values := range []map[string]string{o.GetLabels(), o.GetAnnotations()} {
		for key := range values {
			if strings.HasPrefix(key, "kubehenge.dev/") {
				tell.field("metadata", "%s is kept for the platform itself", key)
			}
		}
	}
}
