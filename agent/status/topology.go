package status

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// refusal is what Cluster API's topology controller says against a cluster, in plain words.
type refusal struct {
	message string
	// lasting is true when trying again does not help.
	lasting bool
}

// topologyRefusal translates TopologyReconciled=False; nil when it is True, or False only because an upgrade
// is on its way.
func topologyRefusal(cluster *clusterv1.Cluster) *refusal {
	c := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ClusterTopologyReconciledCondition)
	if c == nil || c.Status != metav1.ConditionFalse {
		return nil
	}
	if r := blocked(c.Message); r != nil {
		return r
	}
	switch c.Reason {
	case clusterv1.ClusterTopologyReconciledClusterClassNotReconciledReason:
		return &refusal{message: fmt.Sprintf("Waiting for Cluster API to read class %s", cluster.Spec.Topology.ClassRef.Name)}
	case clusterv1.ClusterTopologyReconciledFailedReason:
		for _, translate := range topologyRules {
			if r := translate(c.Message); r != nil {
				return r
			}
		}
	}
	return nil
}

// topologyRules translate a message of the topology controller, the most telling first.
var topologyRules = []func(message string) *refusal{
	answeredByHook,
	says("ProxmoxMachineTemplate is immutable", lasting("capmox refuses the change of a machine template: its webhook was installed without the condition that lets Cluster API try one; run kubehenge capmox patch")),
	says("disks.bootVolume: Invalid value", lasting("capmox refuses another disk size: its kind ProxmoxMachineTemplate was installed with the rule that a boot volume never changes; run kubehenge capmox patch")),
	says("addresses may not contain the endpoint IP", lasting("The endpoint lies among the addresses of nodes; choose another endpoint")),
	says("version cannot be decreased", lasting("The Kubernetes version cannot be lowered")),
	says("failed calling webhook", passing("A webhook of Cluster API does not answer; trying again")),
	says("connection refused", passing("A part of Cluster API does not answer; trying again")),
	says("context deadline exceeded", passing("A part of Cluster API does not answer in time; trying again")),
	says("the object has been modified", passing("Cluster API is busy with the cluster; trying again")),
	templateMissing,
	classMissing,
	variableInvalid,
	func(m string) *refusal {
		return &refusal{message: "Cluster API cannot build the cluster as asked: " + lastCause(m)}
	},
}

func lasting(message string) *refusal { return &refusal{message: message, lasting: true} }
func passing(message string) *refusal { return &refusal{message: message} }

// says returns a rule that answers r for a message with text in it.
func says(text string, r *refusal) func(string) *refusal {
	return func(message string) *refusal {
		if strings.Contains(message, text) {
			return r
		}
		return nil
	}
}

var (
	goneTemplate = regexp.MustCompile(`(?:Machine|Config)Template[^"]*"[^"]+" not found`)
	missingClass = regexp.MustCompile(`ClusterClass[^"]*"([^"]+)" not found`)
	badVariable  = regexp.MustCompile(`variables\[([^\]]+)\][^:]*: (.*)`)
)

// templateMissing is what the topology controller says for a moment after it has put a new template in an old one's place.
func templateMissing(message string) *refusal {
	if !goneTemplate.MatchString(message) {
		return nil
	}
	return passing("Cluster API exchanges a machine template; trying again")
}

func classMissing(message string) *refusal {
	m := missingClass.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	return passing("Waiting for class " + m[1] + " in the management cluster")
}

func variableInvalid(message string) *refusal {
	m := badVariable.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	return lasting(fmt.Sprintf("The class does not take %s: %s", m[1], lastCause(m[2])))
}

// lastCause is the innermost part of a wrapped error message.
func lastCause(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	parts := strings.Split(line, ": ")
	// The innermost part alone may be a bare value; two parts then say more.
	last := parts[len(parts)-1]
	if len(last) < 16 && len(parts) > 1 {
		last = parts[len(parts)-2] + ": " + last
	}
	return firstLine(last)
}
