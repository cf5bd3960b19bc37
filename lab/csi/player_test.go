package csi

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"kubehenge.dev/lab/plugins/session"
	"kubehenge.dev/proxmox/simulator"
)

const late = storagev1.VolumeBindingWaitForFirstConsumer

func TestLifeOfAVolume(t *testing.T) {
	for storage, c := range map[string]struct {
		handle, volume string
		zones          []string
	}{
		"shared": {"test//shared/1099/vm-1099-pvc-data.raw", "shared:1099/vm-1099-pvc-data.raw", nil},
		"zfs":    {"test/pve2/zfs/vm-1099-pvc-data", "zfs:vm-1099-pvc-data", []string{"pve2"}},
	} {
		t.Run(storage, func(t *testing.T) {
			w := newWorld(t)
			w.class("c", storage, late)
			w.claim("data", "c", "shop-2")
			w.round()
			pv := w.pv("pvc-data")
			if got := pv.Spec.CSI.VolumeHandle; got != c.handle {
				t.Errorf("handle %s, want %s", got, c.handle)
			}
			var zones []string
			for _, r := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions {
				if r.Key == corev1.LabelTopologyZone {
					zones = r.Values
				}
			}
			if diff := cmp.Diff(c.zones, zones); diff != "" {
				t.Error(diff)
			}
			w.bind("pvc-data", "data")
			w.attachment("a", "pvc-data", "shop-2")
			w.round()
			if a := w.attached("a"); !a.Status.Attached || !slices.Contains(a.Finalizers, attacherFinalizer) {
				t.Errorf("not attached: %+v", a)
			}
			if got := w.conf(1002)["scsi1"]; !strings.HasPrefix(got, c.volume+",") {
				t.Errorf("scsi1 is %q", got)
			}
			w.leave("a")
			w.round()
			if got := w.conf(1002)["scsi1"]; got != "" || len(w.attached("a").Finalizers) != 0 {
				t.Errorf("scsi1 is %q, finalizers %v", got, w.attached("a").Finalizers)
			}
			if len(w.owned()) != 1 {
				t.Errorf("detaching left %s", w.owned())
			}
		})
	}
}

// The plugin alone cannot delete a volume; with the agent's help it completes.
func TestAReleasedVolumeGoesOnceTheAgentDeletedIt(t *testing.T) {
	for _, storage := range []string{"shared", "zfs"} {
		t.Run(storage, func(t *testing.T) {
			w := newWorld(t)
			w.class("c", storage, late)
			w.claim("data", "c", "shop-2")
			w.round()
			w.bind("pvc-data", "data")
			w.must(w.kube.CoreV1().PersistentVolumeClaims("prod").Delete(w.ctx, "data", metav1.DeleteOptions{}))
			w.setPhase("pvc-data", corev1.VolumeReleased)
			w.round()
			if len(w.owned()) != 1 {
				t.Fatal("the plugin deleted the volume by itself")
			}
			refused := slices.ContainsFunc(w.pve.Calls(), func(c simulator.Call) bool { return c.Method == "DELETE" && c.Status == 403 })
			if !refused {
				t.Error("the plugin did not try")
			}
			w.release()
			w.round()
			if left := w.owned(); len(left) != 0 {
				t.Errorf("left: %s", left)
			}
			if _, err := w.kube.CoreV1().PersistentVolumes().Get(w.ctx, "pvc-data", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("the PersistentVolume is left: %v", err)
			}
		})
	}
}

// The calls are those of the real plugin: what its user may do has to allow them.
func TestTheCalls(t *testing.T) {
	w := newWorld(t)
	w.class("c", "zfs", late)
	w.claim("data", "c", "shop-2")
	w.round()
	w.bind("pvc-data", "data")
	w.attachment("a", "pvc-data", "shop-2")
	w.round()
	w.leave("a")
	w.round()
	var changes []string
	for _, c := range w.pve.Calls() {
		if c.Method != "GET" {
			changes = append(changes, c.Method+" "+c.Path+" "+strings.Join(slices.Sorted(maps.Keys(c.Params)), ","))
		}
	}
	want := []string{
		"POST /nodes/pve2/storage/zfs/content filename,size,vmid",
		"POST /nodes/pve2/qemu/1002/config scsi1",
		"PUT /nodes/pve2/qemu/1002/unlink idlist",
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
}

// A new worker that the cloud controller manager has not labelled yet: the plugin does not start there.
func TestANodeWithoutLabelsGetsNoVolume(t *testing.T) {
	w := newWorld(t)
	w.class("c", "shared", late)
	nodes := w.kube.CoreV1().Nodes()
	_, err := nodes.Update(w.ctx, node(2, "", ""), metav1.UpdateOptions{})
	w.must(err)
	w.claim("data", "c", "shop-2")
	w.claim("other", "c", "shop-1")
	w.round()
	if len(w.owned()) != 1 {
		t.Fatalf("made: %s", w.owned())
	}
	w.bind("pvc-other", "other")
	w.attachment("a", "pvc-other", "shop-2")
	w.round()
	if w.attached("a").Status.Attached {
		t.Error("attached to a node without labels")
	}
	_, err = nodes.Update(w.ctx, node(2, "test", "pve2"), metav1.UpdateOptions{})
	w.must(err)
	w.round()
	if len(w.owned()) != 2 || !w.attached("a").Status.Attached {
		t.Errorf("with labels: made %s, attached %v", w.owned(), w.attached("a").Status.Attached)
	}
}

func TestTheChartsObjects(t *testing.T) {
	w := newWorld(t)
	w.round()
	class, err := w.kube.StorageV1().StorageClasses().Get(w.ctx, StorageClass, metav1.GetOptions{})
	w.must(err)
	if class.Parameters["storage"] != "shared" {
		t.Errorf("the StorageClass is on %s", class.Parameters["storage"])
	}
	if _, err := w.kube.StorageV1().CSIDrivers().Get(w.ctx, "csi.proxmox.sinextra.dev", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestTheTokenIsFollowed(t *testing.T) {
	w := newWorld(t)
	w.class("c", "shared", late)
	w.round()
	first := w.player.session
	w.round()
	if w.player.session != first {
		t.Error("it connected anew without need")
	}
	secret := w.config("8")
	w.must(w.kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), secret, metav1.NamespaceSystem))
	w.round()
	if w.player.session == first {
		t.Error("it kept the former token")
	}
	if _, err := session.Follow(w.ctx, fake.NewClientset(), configSecret, nil); err == nil {
		t.Error("a cluster without the Secret is taken for configured")
	}
}

func TestWhatFailsIsTriedLessAndLessOften(t *testing.T) {
	w := newWorld(t)
	tries := 0
	fail := func() error { tries++; return errNoVM }
	for range 120 {
		w.player.try(w.ctx, "x", fail)
		w.clock.Step(firstRetry)
	}
	if tries != 7 { // at 0, 1, 3, 7, 15, 31, 63 seconds
		t.Errorf("%d tries in two minutes", tries)
	}
}
