package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// stage is how far a machine is; later stages are greater.
type stage int

const (
	stageAsked stage = iota
	stageCloning
	stageCloned
	stageStarted
	stageJoining
	stageReady
)

// vmProvisioned is the condition whose reason is capmox's state machine
// (cluster-api-provider-proxmox, api/v1alpha2/conditions_consts.go).
const vmProvisioned = "VirtualMachineProvisioned"

// waitsForBootstrapData is told as a wait for the control plane, where that is what the data waits for.
const (
	waitsForBootstrapData = "waits for its bootstrap data"
	waitsForControlPlane  = "waits for the control plane"
)

// progress is a reason of capmox's state machine in our words.
type progress struct {
	stage stage
	waits string
}

var progressOf = map[string]progress{
	"":                                     {stageAsked, "waits for its VM to be cloned"},
	"WaitingForClusterInfrastructure":      {stageAsked, "waits for its network"},
	"WaitingForClusterInfrastructureReady": {stageAsked, "waits for its network"},
	"WaitingForBootstrapData":              {stageAsked, waitsForBootstrapData},
	"Cloning":                              {stageCloning, "is being cloned"},
	"WaitingForDiskReconciliation":         {stageCloned, "waits for its disk"},
	"WaitingForStaticIPAllocation":         {stageCloned, "waits for its address"},
	"WaitingForBootstrapDataReconciliation": {
		stageCloned, "waits for its boot medium"},
	"WaitingForVMPowerUp":                  {stageCloned, "waits for its start"},
	"WaitingForClusterAPIMachineAddresses": {stageStarted, "waits for its boot"},
	"WaitingForCloudInit":                  {stageStarted, "waits for its boot"},
	"WaitingForBootstrapReady":             {stageStarted, "waits for kubeadm to end"},
}

// failed are the reasons that say something went wrong, and how far the machine then is.
var failed = map[string]progress{
	"CloningFailed":     {stageAsked, "cannot be cloned"},
	"TaskFailed":        {stageCloning, "had a task fail"},
	"PoweringOnFailed":  {stageCloned, "cannot be started"},
	"VMProvisionFailed": {stageCloned, "cannot be built"},
	"DeletionFailed":    {stageCloned, "cannot be deleted"},
}

// needsPerson is the reason after which capmox does nothing more; a machine health check replaces the machine.
const needsPerson = "VMProvisionFailed"

// vmCondition is the condition that says how far a VM is; nil when there is none yet.
func vmCondition(vm *unstructured.Unstructured) *metav1.Condition {
	if vm == nil {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(vm.Object, "status", "conditions")
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok || m["type"] != vmProvisioned {
			continue
		}
		c := &metav1.Condition{Type: vmProvisioned}
		status, _ := m["status"].(string)
		c.Status = metav1.ConditionStatus(status)
		c.Reason, _ = m["reason"].(string)
		c.Message, _ = m["message"].(string)
		at, _ := m["lastTransitionTime"].(string)
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			c.LastTransitionTime = metav1.NewTime(t)
		}
		return c
	}
	return nil
}

// locate says how far a machine is, what it waits for and since when.
func (m *member) locate(machine *clusterv1.Machine, vm *unstructured.Unstructured) {
	m.since = machine.CreationTimestamp.Time
	if c := meta.FindStatusCondition(machine.Status.Conditions, clusterv1.MachineNodeReadyCondition); c != nil && machine.Status.NodeRef.IsDefined() {
		m.stage, m.waits, m.since = stageJoining, "waits for its node to be ready", c.LastTransitionTime.Time
		if c.Status == metav1.ConditionTrue {
			m.stage, m.waits = stageReady, ""
		}
		return
	}
	c := vmCondition(vm)
	if c == nil {
		p := progressOf[""]
		m.stage, m.waits = p.stage, p.waits
		return
	}
	m.locateVM(c)
}

// locateVM places a machine without a node by its VM's condition.
func (m *member) locateVM(c *metav1.Condition) {
	if !c.LastTransitionTime.IsZero() {
		m.since = c.LastTransitionTime.Time
	}
	if c.Status == metav1.ConditionTrue {
		m.stage, m.waits = stageStarted, "waits to join the cluster"
		return
	}
	if p, ok := failed[c.Reason]; ok {
		m.stage, m.waits = p.stage, p.waits
		m.trouble, m.terminal = explainProvider(c.Message), c.Reason == needsPerson
		return
	}
	p, ok := progressOf[c.Reason]
	if !ok {
		p = progress{stageCloned, "waits for Proxmox VE"}
	}
	m.stage, m.waits = p.stage, p.waits
	if code := proxmoxAnswer(c.Message); code != "" {
		m.trouble = explainProvider(c.Message)
	}
}
