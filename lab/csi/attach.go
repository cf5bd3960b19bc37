package csi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/lab/plugins/session"
)

// attacherFinalizer is external-attacher's.
const attacherFinalizer = "external-attacher/csi-proxmox-sinextra-dev"

// machine is a VM.
type machine = session.VM

func quantity(bytes int64) *resource.Quantity { return resource.NewQuantity(bytes, resource.BinarySI) }

// attachment attaches or detaches, as a VolumeAttachment asks.
func (p *Player) attachment(ctx context.Context, v *view, a *storagev1.VolumeAttachment) error {
	if a.Spec.Attacher != volumes.Driver || a.Spec.Source.PersistentVolumeName == nil {
		return nil
	}
	if a.DeletionTimestamp != nil {
		return p.unpublish(ctx, v, a)
	}
	if a.Status.Attached {
		return nil
	}
	return p.publish(ctx, v, a)
}

func (p *Player) publish(ctx context.Context, v *view, a *storagev1.VolumeAttachment) error {
	h, err := handleOf(v, a)
	if err != nil {
		return err
	}
	node := v.nodes[a.Spec.NodeName]
	if !registered(node) {
		return fmt.Errorf("node %s has no topology labels yet, so the plugin does not run on it", a.Spec.NodeName)
	}
	vm, err := p.vmOf(ctx, node)
	if err != nil {
		return err
	}
	there, err := p.exists(ctx, vm.Node, h)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("volume %s not found on node %s", h.ID(), vm.Node)
	}
	if !slices.Contains(a.Finalizers, attacherFinalizer) {
		changed := a.DeepCopy()
		changed.Finalizers = append(changed.Finalizers, attacherFinalizer)
		if a, err = v.kube.StorageV1().VolumeAttachments().Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if err := p.attach(ctx, vm, h); err != nil {
		return err
	}
	changed := a.DeepCopy()
	changed.Status = storagev1.VolumeAttachmentStatus{Attached: true}
	if _, err := v.kube.StorageV1().VolumeAttachments().UpdateStatus(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	log.FromContext(ctx).Info("Attached", "volume", h.ID(), "node", a.Spec.NodeName)
	return nil
}

func handleOf(v *view, a *storagev1.VolumeAttachment) (volumes.Handle, error) {
	pv := v.volumes[*a.Spec.Source.PersistentVolumeName]
	if pv == nil || pv.Spec.CSI == nil {
		return volumes.Handle{}, fmt.Errorf("PersistentVolume %s is not there", *a.Spec.Source.PersistentVolumeName)
	}
	return volumes.ParseHandle(pv.Spec.CSI.VolumeHandle)
}

// vmOf finds the VM of a node by the UUID that both have.
func (p *Player) vmOf(ctx context.Context, node *corev1.Node) (machine, error) {
	vms, err := p.session.VMs(ctx)
	if err != nil {
		return machine{}, err
	}
	for _, vm := range vms {
		if vm.Type != "qemu" || !strings.HasPrefix(vm.Name, node.Name) {
			continue
		}
		config, err := p.session.Config(ctx, vm)
		if err != nil {
			return machine{}, err
		}
		if smbios, _ := config["smbios1"].(string); strings.Contains(strings.ToLower(smbios), strings.ToLower(node.Status.NodeInfo.SystemUUID)) {
			return vm, nil
		}
	}
	return machine{}, fmt.Errorf("no VM of node %s: %w", node.Name, errNoVM)
}

var errNoVM = fmt.Errorf("instance not found")

// unpublish detaches. A node, or a volume, that is gone needs no detaching.
func (p *Player) unpublish(ctx context.Context, v *view, a *storagev1.VolumeAttachment) error {
	if !slices.Contains(a.Finalizers, attacherFinalizer) {
		return nil
	}
	h, err := handleOf(v, a)
	if node := v.nodes[a.Spec.NodeName]; err == nil && node != nil {
		vm, err := p.vmOf(ctx, node)
		if err != nil {
			return err
		}
		if err := p.detach(ctx, vm, h); err != nil {
			return err
		}
		log.FromContext(ctx).Info("Detached", "volume", h.ID(), "node", a.Spec.NodeName)
	}
	changed := a.DeepCopy()
	changed.Finalizers = slices.DeleteFunc(changed.Finalizers, func(f string) bool { return f == attacherFinalizer })
	if _, err := v.kube.StorageV1().VolumeAttachments().Update(ctx, changed, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// reclaim deletes the volume of a released PersistentVolume, and then the PersistentVolume.
func (p *Player) reclaim(ctx context.Context, v *view, pv *corev1.PersistentVolume) error {
	ours := pv.Spec.CSI != nil && pv.Spec.CSI.Driver == volumes.Driver && pv.Annotations[provisionedBy] == volumes.Driver
	if !ours || pv.Status.Phase != corev1.VolumeReleased || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	h, err := volumes.ParseHandle(pv.Spec.CSI.VolumeHandle)
	if err != nil {
		return err
	}
	node, err := p.anyNode(ctx, h)
	if err != nil {
		return err
	}
	there, err := p.exists(ctx, node, h)
	if err != nil {
		return err
	}
	if there {
		if err := p.remove(ctx, node, h); err != nil {
			return err
		}
	}
	return p.drop(ctx, v, pv)
}

// anyNode is a node that can tell of a volume.
func (p *Player) anyNode(ctx context.Context, h volumes.Handle) (string, error) {
	if h.Zone != "" {
		return h.Zone, nil
	}
	rows, err := p.storages(ctx, h.Storage)
	if err != nil || len(rows) == 0 {
		return "", fmt.Errorf("storage %s: %w", h.Storage, errNoStorage)
	}
	return rows[0].Node, nil
}

func (p *Player) drop(ctx context.Context, v *view, pv *corev1.PersistentVolume) error {
	volumesAPI := v.kube.CoreV1().PersistentVolumes()
	if err := volumesAPI.Delete(ctx, pv.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	live, err := volumesAPI.Get(ctx, pv.Name, metav1.GetOptions{})
	if err == nil {
		live.Finalizers = slices.DeleteFunc(live.Finalizers, func(f string) bool { return f == provisionerFinalizer })
		_, err = volumesAPI.Update(ctx, live, metav1.UpdateOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	log.FromContext(ctx).Info("Deleted", "persistentVolume", pv.Name)
	return nil
}
