package csi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/lab/plugins/session"
)

// configSecret is the Secret, in kube-system, that it is configured with.
const configSecret = "proxmox-csi-config"

// StorageClass is the one that the lab's cluster gets with the plugin.
const StorageClass = "proxmox"

// Back-off of the provisioner (--retry-interval-start, --retry-interval-max).
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// Player plays it for one cluster. Not safe for concurrent use.
type Player struct {
	// Clock is for the back-off. Default: the real one.
	Clock clock.PassiveClock
	// LastRetry is the longest pause between two tries. Default: that of the real one, 5 minutes.
	LastRetry time.Duration

	session *session.Session
	retries map[string]retry
	ready   bool // the cluster has what the chart installs
}

// retry is when something that failed is tried again.
type retry struct {
	at    time.Time
	pause time.Duration
}

// view is the cluster as one round sees it.
type view struct {
	kube        kubernetes.Interface
	classes     map[string]*storagev1.StorageClass
	claims      []corev1.PersistentVolumeClaim
	volumes     map[string]*corev1.PersistentVolume
	attachments []storagev1.VolumeAttachment
	nodes       map[string]*corev1.Node
}

// Round does what there is to do, each thing once.
func (p *Player) Round(ctx context.Context, kube kubernetes.Interface) error {
	s, err := session.Follow(ctx, kube, configSecret, p.session)
	if err != nil {
		return err
	}
	p.session = s
	if err := p.install(ctx, kube); err != nil {
		return err
	}
	v, err := look(ctx, kube)
	if err != nil {
		return err
	}
	for i := range v.claims {
		c := &v.claims[i]
		p.try(ctx, "provision "+string(c.UID), func() error { return p.provision(ctx, v, c) })
	}
	for i := range v.attachments {
		a := &v.attachments[i]
		p.try(ctx, "attach "+string(a.UID), func() error { return p.attachment(ctx, v, a) })
	}
	for _, pv := range v.volumes {
		p.try(ctx, "delete "+string(pv.UID), func() error { return p.reclaim(ctx, v, pv) })
	}
	return nil
}

// try does one thing unless it failed a short while ago.
func (p *Player) try(ctx context.Context, name string, do func() error) {
	if p.Clock == nil {
		p.Clock = clock.RealClock{}
	}
	longest := p.LastRetry
	if longest == 0 {
		longest = lastRetry
	}
	last, failed := p.retries[name]
	if failed && p.Clock.Now().Before(last.at) {
		return
	}
	err := do()
	if err == nil {
		delete(p.retries, name)
		return
	}
	if p.retries == nil {
		p.retries = map[string]retry{}
	}
	pause := min(max(2*last.pause, firstRetry), longest)
	p.retries[name] = retry{at: p.Clock.Now().Add(pause), pause: pause}
	log.FromContext(ctx).Info("Failed; trying again", "what", name, "why", err.Error(), "in", pause.String())
}

// install makes what the plugin's chart does, once: the driver, and a StorageClass where there is none of it.
func (p *Player) install(ctx context.Context, kube kubernetes.Interface) error {
	if p.ready {
		return nil
	}
	driver := &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: volumes.Driver},
		Spec:       storagev1.CSIDriverSpec{AttachRequired: ptr.To(true), PodInfoOnMount: ptr.To(true)},
	}
	_, err := kube.StorageV1().CSIDrivers().Create(ctx, driver, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("install the driver: %w", err)
	}
	classes, err := kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list StorageClasses: %w", err)
	}
	ours := func(c storagev1.StorageClass) bool { return c.Provisioner == volumes.Driver }
	if !slices.ContainsFunc(classes.Items, ours) {
		storage, err := p.defaultStorage(ctx)
		if err != nil {
			return err
		}
		class := &storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: StorageClass, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
			Provisioner: volumes.Driver, Parameters: map[string]string{"storage": storage, "csi.storage.k8s.io/fstype": "ext4"},
			ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		}
		if _, err := kube.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("install the StorageClass: %w", err)
		}
	}
	p.ready = true
	return nil
}

func look(ctx context.Context, kube kubernetes.Interface) (*view, error) {
	v := &view{kube: kube, classes: map[string]*storagev1.StorageClass{}, volumes: map[string]*corev1.PersistentVolume{}, nodes: map[string]*corev1.Node{}}
	all := metav1.ListOptions{}
	classes, err1 := kube.StorageV1().StorageClasses().List(ctx, all)
	claims, err2 := kube.CoreV1().PersistentVolumeClaims("").List(ctx, all)
	pvs, err3 := kube.CoreV1().PersistentVolumes().List(ctx, all)
	attachments, err4 := kube.StorageV1().VolumeAttachments().List(ctx, all)
	nodes, err5 := kube.CoreV1().Nodes().List(ctx, all)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, fmt.Errorf("look at the cluster: %w", err)
	}
	v.claims, v.attachments = claims.Items, attachments.Items
	for i := range classes.Items {
		v.classes[classes.Items[i].Name] = &classes.Items[i]
	}
	for i := range pvs.Items {
		v.volumes[pvs.Items[i].Name] = &pvs.Items[i]
	}
	for i := range nodes.Items {
		v.nodes[nodes.Items[i].Name] = &nodes.Items[i]
	}
	return v, nil
}

// Close drops its connections.
func (p *Player) Close() { p.session.Close() }
