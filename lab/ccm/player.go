// Package ccm plays the Proxmox cloud controller manager of a workload cluster, as far as others notice it: it tells
// nodes which Proxmox VE node they are on, and removes nodes whose VM is gone. It makes the calls that the real one
// makes, with the cluster's own token.
//
// Source: proxmox-cloud-controller-manager v0.12 pkg/proxmox/instances.go; kubernetes cloud-provider, controllers/node and
// controllers/nodelifecycle.
package ccm

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/lab/plugins/session"
)

// configSecret is the Secret, in kube-system, that it is configured with.
const configSecret = "proxmox-ccm-config"

// The marks that it puts on nodes beside Kubernetes' own.
const (
	uninitialized    = "node.cloudprovider.kubernetes.io/uninitialized"
	instanceID       = "proxmox.sinextra.dev/instance-id"
	regionLabel      = "topology.proxmox.sinextra.dev/region"
	zoneLabel        = "topology.proxmox.sinextra.dev/zone"
	providerIDScheme = "proxmox://"
)

// Player plays it for one cluster. Not safe for concurrent use.
type Player struct {
	session *session.Session
	// placed are the nodes that are initialised, by UID: they cost no calls.
	placed map[string]bool
}

// Round looks at each node once.
func (p *Player) Round(ctx context.Context, kube kubernetes.Interface) error {
	s, err := session.Follow(ctx, kube, configSecret, p.session)
	if err != nil {
		return err
	}
	p.session = s
	nodes, err := kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	look := false
	for i := range nodes.Items {
		look = look || p.needs(&nodes.Items[i])
	}
	if !look {
		return nil
	}
	vms, err := s.VMs(ctx)
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		if node := &nodes.Items[i]; p.needs(node) {
			if err := p.look(ctx, kube, vms, node); err != nil {
				return fmt.Errorf("node %s: %w", node.Name, err)
			}
		}
	}
	return nil
}

// needs is true for a node that is to be initialised, or that may be gone: the node life cycle controller asks only after
// nodes that are not ready.
func (p *Player) needs(node *corev1.Node) bool { return !p.placed[string(node.UID)] || !ready(node) }

func ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (p *Player) look(ctx context.Context, kube kubernetes.Interface, vms []session.VM, node *corev1.Node) error {
	vm, found, err := p.find(ctx, vms, node)
	switch {
	case err != nil:
		return err
	case !found && node.Spec.ProviderID != "" && !ready(node):
		return p.remove(ctx, kube, node)
	case !found || p.placed[string(node.UID)]:
		return nil
	}
	return p.initialise(ctx, kube, node, vm)
}

// find finds the VM of a node: by its name, and by the UUID that both have. A VM whose node does not report counts as
// there.
func (p *Player) find(ctx context.Context, vms []session.VM, node *corev1.Node) (session.VM, bool, error) {
	unreachable := false
	for _, vm := range vms {
		switch {
		case vm.Unreachable():
			unreachable = true
		case vm.Type == "qemu" && strings.HasPrefix(vm.Name, node.Name):
			config, err := p.session.Config(ctx, vm)
			if err != nil {
				return session.VM{}, true, err
			}
			if strings.EqualFold(uuidOf(config), node.Status.NodeInfo.SystemUUID) {
				return vm, true, nil
			}
		}
	}
	if unreachable {
		return session.VM{}, true, fmt.Errorf("its VM may be on a Proxmox VE node that does not answer")
	}
	return session.VM{}, false, nil
}

func uuidOf(config map[string]any) string {
	smbios, _ := config["smbios1"].(string)
	for part := range strings.SplitSeq(smbios, ",") {
		if uuid, ok := strings.CutPrefix(part, "uuid="); ok {
			return uuid
		}
	}
	return ""
}

// initialise tells a node where it is. Zone and region are set once: a VM that moves later keeps them, as with the real
// one unless force_update_labels is set.
func (p *Player) initialise(ctx context.Context, kube kubernetes.Interface, node *corev1.Node, vm session.VM) error {
	changed := node.DeepCopy()
	labels := map[string]string{
		corev1.LabelTopologyRegion: p.session.Token.Region, corev1.LabelTopologyZone: vm.Node,
		regionLabel: p.session.Token.Region, zoneLabel: vm.Node,
	}
	maps.DeleteFunc(labels, func(name, _ string) bool { return changed.Labels[name] != "" })
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	maps.Copy(changed.Labels, labels)
	if changed.Spec.ProviderID == "" {
		changed.Spec.ProviderID = providerIDScheme + strings.ToLower(node.Status.NodeInfo.SystemUUID)
		if changed.Annotations == nil {
			changed.Annotations = map[string]string{}
		}
		changed.Annotations[instanceID] = fmt.Sprint(vm.VMID)
	}
	changed.Spec.Taints = nil
	for _, t := range node.Spec.Taints {
		if t.Key != uninitialized {
			changed.Spec.Taints = append(changed.Spec.Taints, t)
		}
	}
	if _, err := kube.CoreV1().Nodes().Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		if apierrors.IsConflict(err) {
			return nil // the next round sees what changed
		}
		return err
	}
	if p.placed == nil {
		p.placed = map[string]bool{}
	}
	p.placed[string(node.UID)] = true
	log.FromContext(ctx).Info("Initialised node", "node", node.Name, "zone", vm.Node)
	return nil
}

// remove removes a node whose VM is gone.
func (p *Player) remove(ctx context.Context, kube kubernetes.Interface, node *corev1.Node) error {
	uid := node.UID
	err := kube.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	delete(p.placed, string(uid))
	log.FromContext(ctx).Info("Removed node, whose VM is gone", "node", node.Name)
	return nil
}

// Close drops its connections.
func (p *Player) Close() { p.session.Close() }
