package csi

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/volumes"
)

// The marks of external-provisioner and of the scheduler.
const (
	provisionerFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"
	provisionedBy        = "pv.kubernetes.io/provisioned-by"
	selectedNode         = "volume.kubernetes.io/selected-node"
)

// Sizes of volumes, in bytes: they are whole multiples of the chunk.
const (
	defaultSize = 10 << 30
	chunk       = 512 << 20
)

// provision makes a volume and a PersistentVolume for a claim that waits for one.
func (p *Player) provision(ctx context.Context, v *view, claim *corev1.PersistentVolumeClaim) error {
	class := classOf(v, claim)
	if class == nil || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return nil
	}
	region, zone, ready, err := place(v, class, claim)
	if err != nil || !ready {
		return err
	}
	h := volumes.Handle{Region: region, Storage: class.Parameters["storage"], VMID: p.session.Token.OwnerVMID}
	name := "pvc-" + string(claim.UID)
	node, shared, err := p.nodeFor(ctx, &h, zone, fmt.Sprintf("vm-%d-%s", h.VMID, name))
	if err != nil {
		return err
	}
	size := sizeOf(claim)
	there, err := p.exists(ctx, node, h)
	if err != nil {
		return err
	}
	if !there {
		if err := p.create(ctx, node, h, size); err != nil {
			return err
		}
	}
	if !shared {
		h.Zone = node
	}
	_, err = v.kube.CoreV1().PersistentVolumes().Create(ctx, persistentVolume(name, h, class, claim, size), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create PersistentVolume %s: %w", name, err)
	}
	log.FromContext(ctx).Info("Provisioned", "claim", claim.Namespace+"/"+claim.Name, "volume", h.ID(), "node", node)
	return nil
}

func classOf(v *view, claim *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	if class := v.classes[*claim.Spec.StorageClassName]; class != nil && class.Provisioner == volumes.Driver {
		return class
	}
	return nil
}

// place is where a claim's volume is to be. A node without both labels has no working plugin: it refuses to start there
// (proxmox-csi-plugin pkg/csi/node.go, NodeGetInfo).
func place(v *view, class *storagev1.StorageClass, claim *corev1.PersistentVolumeClaim) (region, zone string, ready bool, err error) {
	if class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer {
		chosen := claim.Annotations[selectedNode]
		if chosen == "" {
			return "", "", false, nil
		}
		node := v.nodes[chosen]
		if !registered(node) {
			return "", "", false, fmt.Errorf("node %s of claim %s/%s has no topology labels yet", chosen, claim.Namespace, claim.Name)
		}
		return node.Labels[corev1.LabelTopologyRegion], node.Labels[corev1.LabelTopologyZone], true, nil
	}
	for _, node := range v.nodes {
		if registered(node) {
			return node.Labels[corev1.LabelTopologyRegion], "", true, nil
		}
	}
	return "", "", false, fmt.Errorf("no node has topology labels yet")
}

// registered is true where the plugin's part on a node works.
func registered(node *corev1.Node) bool {
	return node != nil && node.Labels[corev1.LabelTopologyRegion] != "" && node.Labels[corev1.LabelTopologyZone] != ""
}

// nodeFor chooses the node that allocates, and names the disk as the storage wants it.
func (p *Player) nodeFor(ctx context.Context, h *volumes.Handle, zone, disk string) (node string, shared bool, err error) {
	rows, err := p.storages(ctx, h.Storage)
	if err != nil {
		return "", false, err
	}
	for _, s := range rows {
		if zone != "" && s.Node != zone && s.Shared == 0 {
			continue
		}
		if h.Disk = disk; s.Type == "dir" || s.Type == "nfs" {
			h.Disk = strconv.Itoa(h.VMID) + "/" + disk + ".raw"
		}
		if s.Node == zone || zone == "" || s.Shared == 1 {
			return s.Node, s.Shared == 1, nil
		}
	}
	return "", false, fmt.Errorf("cannot find best region and zone: storage %s %w", h.Storage, errNoStorage)
}

func sizeOf(claim *corev1.PersistentVolumeClaim) int64 {
	asked := claim.Spec.Resources.Requests.Storage().Value()
	if asked <= 0 {
		return defaultSize
	}
	return (asked + chunk - 1) / chunk * chunk
}

func persistentVolume(name string, h volumes.Handle, class *storagev1.StorageClass, claim *corev1.PersistentVolumeClaim, size int64) *corev1.PersistentVolume {
	topology := []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyRegion, Operator: corev1.NodeSelectorOpIn, Values: []string{h.Region}}}
	if h.Zone != "" {
		topology = append(topology, corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{h.Zone}})
	}
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: volumes.Driver}, Finalizers: []string{provisionerFinalizer}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: *quantity(size)}, AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: policy, StorageClassName: class.Name,
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: topology}},
			}},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: volumes.Driver, VolumeHandle: h.Region + "/" + h.Zone + "/" + h.Storage + "/" + h.Disk,
				FSType: class.Parameters["csi.storage.k8s.io/fstype"], VolumeAttributes: map[string]string{"storage": h.Storage},
			}},
		},
	}
}
