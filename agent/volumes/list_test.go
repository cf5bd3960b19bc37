package volumes

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// silent is a cluster that does not answer.
type silent struct{}

func (silent) PersistentVolumes(context.Context, types.NamespacedName) ([]PersistentVolume, error) {
	return nil, errors.New("no answer")
}

func TestListingWhatWouldDie(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	w.make(shop, "zfs", "pve2", "pvc-b")
	w.make(web, "shared", "pve1", "pvc-c")
	list := w.volumes[shop.NamespacedName]
	list[0].ClaimNamespace, list[0].ClaimName = "prod", "data"
	list[1].ClaimNamespace, list[1].ClaimName, list[1].Phase = "prod", "\x1b[2Jcleared", "\x1b[31m"
	w.online("pve3", false)
	for name, c := range map[string]struct {
		workloads workloadVolumes
		want      string
	}{
		"of a cluster that answers": {w, `VOLUME                         NODE  SIZE  PERSISTENTVOLUME  CLAIM      STATUS
shared:1099/vm-1099-pvc-a.raw  -     1Gi   pvc-a             prod/data  Bound
zfs:vm-1099-pvc-b              pve2  1Gi   pvc-b             -          -
pve3 (offline) may have more.
`},
		"of a cluster that does not": {silent{}, `VOLUME                         NODE  SIZE  PERSISTENTVOLUME  CLAIM  STATUS
shared:1099/vm-1099-pvc-a.raw  -     1Gi   -                 -      -
zfs:vm-1099-pvc-b              pve2  1Gi   -                 -      -
pve3 (offline) may have more.
The cluster does not answer, so its names for them are not known.
`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ListOf(w.ctx, w.secrets, c.workloads, w.as(shop), shop.NamespacedName)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := writeTable(&out, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheListAsData(t *testing.T) {
	list := List{Cluster: "a/b", OwnerVMID: 1099, ClusterAnswers: true, Volumes: []Item{{ID: "zfs:vm-1099-x", Storage: "zfs", Node: "pve1", SizeBytes: 5}}}
	for format, want := range map[string]string{
		"json": `{
  "cluster": "a/b",
  "ownerVMID": 1099,
  "volumes": [
    {
      "id": "zfs:vm-1099-x",
      "storage": "zfs",
      "node": "pve1",
      "sizeBytes": 5
    }
  ],
  "clusterAnswers": true
}
`,
		"yaml": `cluster: a/b
clusterAnswers: true
ownerVMID: 1099
volumes:
- id: zfs:vm-1099-x
  node: pve1
  sizeBytes: 5
  storage: zfs
`,
		"table": "VOLUME         NODE  SIZE  PERSISTENTVOLUME  CLAIM  STATUS\nzfs:vm-1099-x  pve1  5     -                 -      -\n",
	} {
		write, err := writerFor(format)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := write(&out, list); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
	if _, err := writerFor("xml"); err == nil {
		t.Error("xml is taken")
	}
}

func TestClusterNamesOnTheCommandLine(t *testing.T) {
	for text, good := range map[string]bool{"team-a/shop": true, "shop": false, "/shop": false, "team-a/": false, "": false} {
		if _, err := parseCluster(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTokensThatDoNotRead(t *testing.T) {
	w := newWorld(t)
	for name, data := range map[string]string{
		"nothing":            "",
		"no YAML":            "\t{",
		"another Secret":     "kind: Secret\nmetadata: {name: x}\n",
		"no configuration":   "kind: Secret\nmetadata: {name: proxmox-csi-config}\n",
		"two Proxmox VEs":    "kind: Secret\nmetadata: {name: proxmox-csi-config}\nstringData: {config.yaml: 'clusters: [{token_id: a, token_secret: topsecret},{}]'}\n",
		"no token":           "kind: Secret\nmetadata: {name: proxmox-csi-config}\nstringData: {config.yaml: 'clusters: [{token_secret: topsecret}]'}\n",
		"another's token":    "kind: Secret\nmetadata: {name: proxmox-csi-config}\nstringData: {config.yaml: 'clusters: [{token_id: root@pam!x, token_secret: topsecret}]'}\n",
		"a broken structure": "kind: Secret\nmetadata: {name: proxmox-csi-config}\nstringData: {config.yaml: 'topsecret: ['}\n",
	} {
		t.Run(name, func(t *testing.T) {
			secret := w.carrier(shop)
			secret.Data = map[string][]byte{"csi.yaml": []byte(data)}
			if err := w.secrets.Update(w.ctx, secret); err != nil {
				t.Fatal(err)
			}
			_, err := ReadToken(w.ctx, w.secrets, shop.NamespacedName)
			if err == nil || bytes.Contains([]byte(err.Error()), []byte("topsecret")) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestLookingAtSomeStoragesAlone(t *testing.T) {
	w := newWorld(t)
	w.make(shop, "shared", "pve1", "pvc-a")
	w.make(shop, "zfs", "pve2", "pvc-b")
	w.online("pve3", false)
	survey, err := LookAmong(w.ctx, w.as(shop), shop.OwnerVMID, []string{"shared"})
	if err != nil || len(survey.Volumes) != 1 || survey.Volumes[0].Storage != "shared" || len(survey.Unseen) > 0 {
		t.Errorf("%+v, %v", survey, err)
	}
}
