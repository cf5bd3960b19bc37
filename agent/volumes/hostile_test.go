package volumes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func TestAHandleIsTakenOnlyAsThePluginWritesIt(t *testing.T) {
	for text, want := range map[string]*Handle{
		"eu/pve1/zfs/vm-1099-pvc-1b9f":                    {Region: "eu", Zone: "pve1", Storage: "zfs", Disk: "vm-1099-pvc-1b9f", VMID: 1099},
		"eu//shared/1099/vm-1099-pvc-1b9f.raw":            {Region: "eu", Storage: "shared", Disk: "1099/vm-1099-pvc-1b9f.raw", VMID: 1099},
		"eu//shared/1099/vm-1099-pvc-1b9f.qcow2":          {Region: "eu", Storage: "shared", Disk: "1099/vm-1099-pvc-1b9f.qcow2", VMID: 1099},
		"":                                                nil,
		"vm-1099-pvc-a":                                   nil,
		"eu/pve1/zfs":                                     nil,
		"eu/pve1/zfs/":                                    nil,
		"/pve1/zfs/vm-1099-pvc-a":                         nil,
		"eu/pve1//vm-1099-pvc-a":                          nil,
		"eu/pve1/zfs/vm-1099-":                            nil,
		"eu/pve1/zfs/vm-099-pvc-a":                        nil,
		"eu/pve1/zfs/vm-1099999999999-pvc-a":              nil,
		"eu/pve1/zfs/base-1099-disk-0":                    nil,
		"eu/pve1/zfs/base-9000-disk-0/vm-1099-disk-0":     nil,
		"eu/pve1/zfs/../shared/vm-1099-pvc-a":             nil,
		"eu/../zfs/vm-1099-pvc-a":                         nil,
		"eu//shared/500/vm-1099-pvc-a.raw":                nil,
		"eu//shared/1099/../500/vm-500-disk-0.raw":        nil,
		"eu//shared/1099/vm-500-disk-0.raw":               nil,
		"eu//shared/1099/vm-1099-pvc-a":                   nil,
		"eu//shared/1099/vm-1099-pvc-a.iso":               nil,
		"eu/pve1/zfs/vm-1099-pvc-a,size=1":                nil,
		"eu/pve1/zfs/vm-1099-pvc-a\n":                     nil,
		"eu/pve1/zfs/vm-1099-pvc-a b":                     nil,
		"eu/pve1/zfs:x/vm-1099-pvc-a":                     nil,
		"eu/pve1/zfs/vm-1099-pvc-%2e%2e":                  nil,
		"eu/pve1/zfs/vm-1099-" + strings.Repeat("a", 600): nil,
	} {
		got, err := ParseHandle(text)
		switch {
		case want == nil && err == nil:
			t.Errorf("%q is taken: %+v", text, got)
		case want != nil && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != nil:
			if diff := cmp.Diff(*want, got); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	}
}

func FuzzParseHandle(f *testing.F) {
	f.Add("eu/pve1/zfs/vm-1099-pvc-1b9f")
	f.Add("eu//shared/1099/vm-1099-pvc-1b9f.raw")
	f.Add("eu//shared/1099/../500/vm-500-disk-0.raw")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHandle(text)
		if err != nil {
			return
		}
		if back := h.Region + "/" + h.Zone + "/" + h.Storage + "/" + h.Disk; back != text {
			t.Errorf("%q reads as %q", text, back)
		}
		if strings.Contains(text, "..") && strings.Contains(h.Disk, "/..") || strings.ContainsAny(h.ID(), " \n\r,=%\\\x00") || h.VMID < 100 {
			t.Errorf("%q is taken: %+v", text, h)
		}
	})
}

// attacks are PersistentVolumes that a hostile cluster might write to have another's volume deleted.
var attacks = map[string]PersistentVolume{
	"a volume of the other cluster on shared storage": {Handle: "test//shared/1199/vm-1199-pvc-a.raw"},
	"a volume of the other cluster on local storage":  {Handle: "test/pve1/zfs/vm-1199-pvc-b"},
	"a stranger's disk":                  {Handle: "test//shared/500/vm-500-disk-0.raw"},
	"a stranger's disk on local storage": {Handle: "test/pve2/zfs/vm-500-disk-1"},
	"a disk of a machine of its own":     {Handle: "test//shared/1001/vm-1001-disk-0.raw"},
	"its own folder with another's disk": {Handle: "test//shared/1099/vm-1199-pvc-a.raw"},
	"another's folder with its own disk": {Handle: "test//shared/1199/vm-1099-pvc-a.raw"},
	"a path out of its own folder":       {Handle: "test//shared/1099/../1199/vm-1199-pvc-a.raw"},
	"a storage with a colon":             {Handle: "test//shared:1199/vm-1199-pvc-a.raw"},
	"an ISO":                             {Handle: "test//iso/iso/debian.iso"},
	"another disk behind a comma":        {Handle: "test//shared/1099/vm-1099-a.raw,shared:1199/vm-1199-pvc-a.raw"},
	"a name of many lines":               {Name: "pvc\n2026 deleted", Handle: "test//shared/1199/vm-1199-pvc-a.raw"},
}

func TestAHostileClusterDeletesNobodyElsesVolume(t *testing.T) {
	w := newWorld(t)
	w.make(web, "shared", "pve1", "pvc-a")
	w.make(web, "zfs", "pve1", "pvc-b")
	w.make(shop, "shared", "pve1", "pvc-own") // so that the cluster is visited at all
	for name, pv := range attacks {
		t.Run(name, func(t *testing.T) {
			pv.Driver, pv.Policy, pv.Phase, pv.Name = Driver, "Delete", "Released", or(pv.Name, "pvc-x")
			w.volumes[shop.NamespacedName] = []PersistentVolume{pv}
			w.pve.ForgetCalls()
			w.release()
			if left := w.ours(); len(left) != 3 {
				t.Errorf("left: %s", left)
			}
			w.untouched()
			for _, call := range w.pve.Calls() {
				if call.Method != "GET" {
					t.Errorf("%s %s %v", call.Method, call.Path, call.Params)
				}
			}
		})
	}
}

// Proxmox VE itself would refuse: were all our own checks gone, the cluster's token could not delete another's volume.
func TestTheClustersTokenCannotDeleteAnothersVolume(t *testing.T) {
	w := newWorld(t)
	w.make(web, "shared", "pve1", "pvc-a")
	w.make(web, "zfs", "pve1", "pvc-b")
	e := func() *eraser { return &eraser{cluster: shop, agent: w.agent, as: w.as(shop), users: map[string]int{}} }
	for _, v := range []Volume{
		{ID: "shared:1199/vm-1199-pvc-a.raw", Storage: "shared", VMID: shop.OwnerVMID},
		{ID: "zfs:vm-1199-pvc-b", Storage: "zfs", Node: "pve1", Nodes: []string{"pve1"}, VMID: shop.OwnerVMID},
		{ID: "shared:500/vm-500-disk-0.raw", Storage: "shared", VMID: shop.OwnerVMID},
	} {
		if err := e().erase(w.ctx, []Volume{v}); !proxmox.Is(err, proxmox.Forbidden) {
			t.Errorf("%s: %v", v.ID, err)
		}
	}
	// Its own machines' disks it may touch; they are not the owner VM's, so only the entry goes.
	own := Volume{ID: "shared:1001/vm-1001-disk-0.raw", Storage: "shared", VMID: shop.OwnerVMID}
	if err := e().erase(w.ctx, []Volume{own}); err != nil {
		t.Error(err)
	}
	if left := w.ours(); len(left) != 2 {
		t.Errorf("left: %s", left)
	}
	w.untouched()
}

func TestATokenOfAnotherUserIsNotUsed(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	w.free(shop, "pvc-a")
	stolen := w.carrier(web)
	stolen.Namespace, stolen.Name = shop.Namespace, shop.Name+cornerSuffix
	if err := w.secrets.Update(w.ctx, stolen); err != nil {
		t.Fatal(err)
	}
	w.pve.ForgetCalls()
	w.release()
	if left := w.ours(); len(left) != 1 {
		t.Errorf("left: %s", left)
	}
	if slices.ContainsFunc(w.pve.Calls(), func(c simulator.Call) bool { return strings.Contains(c.User, "web") }) {
		t.Error("the other cluster's token was used")
	}
}
