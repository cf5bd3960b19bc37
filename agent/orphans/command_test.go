package orphans

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/api/v1alpha1"
)

// run runs the verb against the world; the agent works as soon as it is asked to.
func (w *world) run(cluster, confirm, typed string) (string, error) {
	var out bytes.Buffer
	kube := interceptor.NewClient(w.Client, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		if err := c.Patch(ctx, o, p, opts...); err != nil {
			return err
		}
		return w.collect()
	}})
	g := &gc{kube: kube, in: strings.NewReader(typed), out: &out, confirm: confirm, poll: time.Millisecond, limit: 20 * time.Millisecond}
	if cluster == "" {
		return out.String(), g.list(w.t.Context())
	}
	err := g.remove(w.t.Context(), cluster)
	return out.String(), err
}

const table = `CLUSTER       VM      NAME   NODE   STATUS
team-a/shop   20013   left   pve2   stopped
team-a/shop   20014   runs   pve3   running
`

func TestGC(t *testing.T) {
	const question = table + "\nThey are deleted for good, with their disks. Type team-a/shop to go on: "
	for name, c := range map[string]struct {
		cluster, confirm, typed string
		out, err                string
		vms                     []int
	}{
		"confirmed at the terminal":       {"team-a/shop", "", "team-a/shop\n", question + "Removed 2 of 2.\n", "", []int{100, 20001, 20099}},
		"confirmed by flag":               {"team-a/shop", "20014,20013", "", table + "Removed 2 of 2.\n", "", []int{100, 20001, 20099}},
		"not confirmed":                   {"team-a/shop", "", "yes\n", question, "not confirmed: nothing is removed", all},
		"nothing typed":                   {"team-a/shop", "", "", question, "not confirmed: nothing is removed", all},
		"other VMs confirmed":             {"team-a/shop", "20013", "", table, "--confirm names 20013, and listed are 20013,20014: nothing is removed", all},
		"nonsense confirmed":              {"team-a/shop", "all", "", table, `--confirm: "all" is no VMID`, all},
		"a cluster that does not exist":   {"team-a/web", "", "", "", `read claim team-a/web: clusterclaims.kubehenge.dev "web" not found`, all},
		"a cluster without its namespace": {"shop", "", "", "", `"shop" is no cluster: give NAMESPACE/CLUSTER`, all},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pass(patience)
			out, err := w.run(c.cluster, c.confirm, c.typed)
			if out != c.out {
				t.Errorf("it prints\n%s\nwant\n%s", out, c.out)
			}
			if got := text(err); got != c.err {
				t.Errorf("error %q, want %q", got, c.err)
			}
			w.wantVMs(c.vms...)
		})
	}
}

var all = []int{100, 20001, 20013, 20014, 20099}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestGCListsAllClusters(t *testing.T) {
	w := newWorld(t)
	var out bytes.Buffer
	g := &gc{kube: w.Client, out: &out}
	if err := g.list(t.Context()); err != nil || out.String() != "Every VM of every cluster belongs to a machine.\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	w.pass(patience)
	out.Reset()
	if err := g.list(t.Context()); err != nil || out.String() != table {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestGCSaysWhatStays(t *testing.T) {
	w := newWorld(t)
	w.pass(patience)
	w.collector.Proxmox.HA = nil
	_, err := w.run("team-a/shop", "20013,20014", "")
	if err == nil || !strings.Contains(err.Error(), "wait for the agent to remove VMs 20014") {
		t.Errorf("error %v", err)
	}
	if w.LiveClaim(shop).Annotations[v1alpha1.CollectAnnotation] != "20014" {
		t.Error("the agent does not go on with it")
	}
	_, err = w.run("team-a/shop", "20014", "")
	if text(err) != "the agent is removing VMs 20014 already" {
		t.Errorf("error %v", err)
	}
}
