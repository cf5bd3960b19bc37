package commit_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/git"
	"kubehenge.dev/render/sample"
)

func newClaim(name string) *v1alpha1.ClusterClaim {
	c := &v1alpha1.ClusterClaim{Spec: v1alpha1.ClusterClaimSpec{
		Class: "kubeadm-1", Version: "v1.36.3", Network: "lan",
		ControlPlane: v1alpha1.ControlPlane{Replicas: 3, MachineSize: v1alpha1.MachineSize{Size: "small"}},
		Workers:      &v1alpha1.Workers{Replicas: 2, MachineSize: v1alpha1.MachineSize{Size: "medium"}},
	}}
	c.Namespace, c.Name = "team-a", name
	return c
}

func TestANewClusterIsTwelveLines(t *testing.T) {
	w := newWorld(t)
	result, err := w.Create(t.Context(), person("alice"), newClaim("shop"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: shop
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: 10.0.1.3
  controlPlane: {replicas: 3, size: small}
  workers: {replicas: 2, size: medium}
  serviceCIDR: 172.24.0.0/16
`
	if diff := cmp.Diff(want, w.read("clusters/team-a/shop/claim.yaml")); diff != "" {
		t.Error(diff)
	}
	if result.Subject != "Create team-a/shop" || result.Commit != w.git("rev-parse", "main") || len(result.Checked) != 3 {
		t.Errorf("got %+v", result)
	}
}

func TestTheCommitIsThePersonsAndSignedByTheAppliance(t *testing.T) {
	w := newWorld(t)
	result, err := w.Scale(t.Context(), person("alice"), shop0, "", "workers", 5)
	if err != nil {
		t.Fatal(err)
	}
	const want = `alice@pve <alice@pve>
Kubehenge <kubehenge@localhost>
Scale workers of team-0/shop-0 to 5

Kubehenge-User: alice@pve
Kubehenge-Session: s-alice
Kubehenge-Checked: VM.Allocate /pool/kubehenge/team-0.shop-0`
	if diff := cmp.Diff(want, w.git("log", "-1", "--format=%an <%ae>%n%cn <%ce>%n%B", "main")); diff != "" {
		t.Error(diff)
	}
	signers, err := git.ParseAllowedSigners([]byte("appliance " + string(ssh.MarshalAuthorizedKey(w.signer.PublicKey()))))
	if err != nil {
		t.Fatal(err)
	}
	clone := w.clone()
	if _, err := clone.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := clone.Commit(result.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := signers.Verify(c); err != nil || who != "appliance" {
		t.Errorf("signed by %q: %v", who, err)
	}
}

func TestEditsTouchOneField(t *testing.T) {
	const claim = `# Ours. Ask Carol before you change it.
apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata: {name: shop-0}
spec:
  class: "kubeadm-1"   # the revision
  endpoint: 10.0.1.0
  network: lan
  serviceCIDR: 172.24.0.0/16

  version: v1.36.3 # keep below the CNI's
  controlPlane: &small
    replicas: 3
    size: small
  pools:
  - name: web
    replicas: 2
    size: medium
  - {name: batch, replicas: 0, size: medium}
`
	crlf := strings.ReplaceAll(claim, "\n", "\r\n")
	for name, test := range map[string]struct {
		content  string
		do       func(*world) (*commit.Result, error)
		old, new string
	}{
		"scaling the control plane": {claim, func(w *world) (*commit.Result, error) { return w.Scale(w.Context(), person("a"), shop0, "", "", 5) },
			"    replicas: 3", "    replicas: 5"},
		"scaling a pool written in one line": {claim, func(w *world) (*commit.Result, error) {
			return w.Scale(w.Context(), person("a"), shop0, "", "batch", 4)
		},
			"batch, replicas: 0", "batch, replicas: 4"},
		"upgrading keeps the comment": {claim, func(w *world) (*commit.Result, error) {
			return w.Upgrade(w.Context(), person("a"), shop0, "", "v1.36.4")
		},
			"v1.36.3 #", "v1.36.4 #"},
		"upgrading keeps line ends": {crlf, func(w *world) (*commit.Result, error) {
			return w.Upgrade(w.Context(), person("a"), shop0, "", "v1.36.4")
		},
			"v1.36.3 #", "v1.36.4 #"},
		"deleting adds the tombstone": {claim, func(w *world) (*commit.Result, error) { return w.Delete(w.Context(), person("a"), shop0) },
			"size: medium}\n", "size: medium}\n  state: Deleted\n"},
		"changing several fields": {claim, func(w *world) (*commit.Result, error) {
			return w.Change(w.Context(), person("a"), shop0, "", "Grow", commit.Field{Path: "spec.pools[0].size", Value: "small"}, commit.Field{Path: "spec.nodes", Value: []any{"pve1"}})
		}, "    size: medium\n  - {name: batch, replicas: 0, size: medium}\n", "    size: small\n  - {name: batch, replicas: 0, size: medium}\n  nodes: [pve1]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(files map[string][]byte) { files[sample.ClaimFile(0)] = []byte(test.content) })
			if _, err := test.do(w); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(test.content, test.old, test.new, 1), w.git("show", "main:"+sample.ClaimFile(0))+test.content[len(strings.TrimSpace(test.content)):]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]struct {
		do   func() (*commit.Result, error)
		want string
	}{
		"without the privilege": {func() (*commit.Result, error) {
			return w.Scale(t.Context(), person("a", "VM.Audit /pool/kubehenge"), shop0, "", "workers", 5)
		}, "changing team-0/shop-0 takes VM.Allocate on /pool/kubehenge/team-0.shop-0, which you do not have; an administrator of Proxmox VE can give it"},
		"creating without space on the storage": {func() (*commit.Result, error) {
			return w.Create(t.Context(), person("a", "VM.Allocate /pool/kubehenge", "SDN.Use /sdn/zones/localnetwork/vmbr0"), newClaim("x"))
		}, "creating team-a/x takes Datastore.AllocateSpace on /storage/shared, which you do not have; an administrator of Proxmox VE can give it"},
		"a number of control-plane nodes that cannot be": {func() (*commit.Result, error) { return w.Scale(t.Context(), person("a"), shop0, "", "", 2) },
			"the change does not pass the checks: " + sample.ClaimFile(0) + ":12: spec.controlPlane.replicas: must be 1, 3 or 5, is 2"},
		"a version that is lower": {func() (*commit.Result, error) { return w.Upgrade(t.Context(), person("a"), shop0, "", "v1.36.2") },
			"the change does not pass the checks: " + sample.ClaimFile(0) + ":7: spec.version: cannot be lowered from v1.36.3 to v1.36.2"},
		"a pool that is not there": {func() (*commit.Result, error) { return w.Scale(t.Context(), person("a"), shop0, "", "gpu", 2) },
			`team-0/shop-0: the claim has no pool "gpu": not found`},
		"a cluster that is not there": {func() (*commit.Result, error) {
			return w.Delete(t.Context(), person("a"), commit.Cluster{Namespace: "team-0", Name: "x"})
		}, "cluster team-0/x: not found"},
		"a field outside spec": {func() (*commit.Result, error) {
			return w.Change(t.Context(), person("a"), shop0, "", "x", commit.Field{Path: "metadata.name", Value: "y"})
		}, "metadata.name of team-0/shop-0: must be edited by hand; only fields of spec are changed here"},
		"a name that is taken": {func() (*commit.Result, error) {
			c := newClaim("shop-0")
			c.Namespace = "team-0"
			return w.Create(t.Context(), person("a"), c)
		}, "the change does not pass the checks: " + sample.ClaimFile(0) + ":4: metadata.name: there is a cluster of this name already"},
		"a name with a path in it": {func() (*commit.Result, error) { return w.Create(t.Context(), person("a"), newClaim("../../x")) },
			"the change does not pass the checks: clusters: metadata.name: namespace and name must be given, each of small letters, digits and dashes and beginning with a letter; one is \"../../x\""},
		"a name that would be lines of the message": {func() (*commit.Result, error) {
			return w.Create(t.Context(), person("a"), newClaim("x\n\nKubehenge-User: root@pam"))
		}, `the change does not pass the checks: clusters: metadata.name: namespace and name must be given, each of small letters, digits and dashes and beginning with a letter; one is "x\n\nKubehenge-User: root@pam"`},
		"a name that is taken, to somebody who may create none": {func() (*commit.Result, error) {
			c := newClaim("shop-0")
			c.Namespace = "team-0"
			return w.Create(t.Context(), person("a", "VM.Audit /pool/kubehenge/team-0.shop-1"), c)
		}, "creating team-0/shop-0 takes VM.Allocate on /pool/kubehenge, which you do not have; an administrator of Proxmox VE can give it"},
		"an address that is taken, to somebody who does not see by whom": {func() (*commit.Result, error) {
			c := newClaim("new")
			c.Spec.Endpoint = "10.0.1.0"
			return w.Create(t.Context(), person("a", "VM.Allocate /pool/kubehenge", "SDN.Use /sdn/zones/localnetwork/vmbr0", "Datastore.AllocateSpace /storage/shared"), c)
		}, "the change does not pass the checks: clusters/team-a/new/claim.yaml:9: spec.endpoint: the endpoint 10.0.1.0 of network lan is also asked for by a cluster that you may not see"},
		"no change": {func() (*commit.Result, error) { return w.Scale(t.Context(), person("a"), shop0, "", "workers", 2) },
			"nothing would change"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.do()
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if n := w.git("rev-list", "--count", "main"); n != "1" {
		t.Errorf("%s commits", n)
	}
}

func TestAPatchThatHasTheLastWordIsTold(t *testing.T) {
	w := newWorld(t, func(files map[string][]byte) {
		files[sample.Folder(0)+"/kustomization.yaml"] = append(files[sample.Folder(0)+"/kustomization.yaml"],
			"patches:\n- target: {kind: ClusterClaim}\n  patch: |-\n    - op: replace\n      path: /spec/workers/replicas\n      value: 7\n"...)
	})
	_, err := w.Scale(t.Context(), person("a"), shop0, "", "workers", 5)
	if !errors.Is(err, commit.ErrByHand) || !strings.Contains(err.Error(), "stays 7, since a patch beside") {
		t.Errorf("got %v", err)
	}
}

func TestWhatSomebodyElseChangedMeanwhileIsTold(t *testing.T) {
	w := newWorld(t)
	base := w.git("rev-parse", "main")
	if _, err := w.Scale(t.Context(), person("bob"), shop0, base, "workers", 4); err != nil {
		t.Fatal(err)
	}
	theirs := w.git("rev-parse", "main")
	_, err := w.Scale(t.Context(), person("alice"), shop0, base, "workers", 5)
	conflict := (*commit.ConflictError)(nil)
	if !errors.As(err, &conflict) {
		t.Fatal(err)
	}
	want := []commit.Conflict{{Field: "spec.workers.replicas", Was: 2, Theirs: 4, Yours: int32(5), By: "bob@pve", Commit: theirs}}
	if diff := cmp.Diff(want, conflict.Conflicts); diff != "" {
		t.Error(diff)
	}
	if want := "spec.workers.replicas was 2 when you looked and was changed to 4 by bob@pve meanwhile; you want 5"; err.Error() != want {
		t.Errorf("got %s", err)
	}
	if _, err := w.Upgrade(t.Context(), person("alice"), shop0, base, "v1.36.4"); err != nil {
		t.Errorf("another field: %v", err)
	}
	if _, err := w.Upgrade(t.Context(), person("alice"), shop0, strings.Repeat("1", 40), "v1.36.5"); !errors.Is(err, commit.ErrNotFound) {
		t.Errorf("a base that is not known: %v", err)
	}
}

func TestFiftyPeopleAtOnceLoseNothing(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	errs := make([]error, 50)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = w.Create(t.Context(), person(fmt.Sprintf("user%d", i)), newClaim(fmt.Sprintf("c%d", i)))
		})
	}
	wg.Go(func() { // somebody pushes meanwhile
		for i := range 10 {
			w.keepPushing(map[string][]byte{"README.md": fmt.Appendf(nil, "%d\n", i)})
		}
	})
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if n := w.git("rev-list", "--count", "main"); n != "61" {
		t.Errorf("%s commits, want 61", n)
	}
	if merges := w.git("rev-list", "--min-parents=2", "main"); merges != "" {
		t.Errorf("history is not linear: %s", merges)
	}
	endpoints := map[string]bool{}
	for i := range errs {
		_, rest, _ := strings.Cut(w.read(fmt.Sprintf("clusters/team-a/c%d/claim.yaml", i)), "endpoint: ")
		endpoint, _, _ := strings.Cut(rest, "\n")
		endpoints[endpoint] = true
	}
	if len(endpoints) != 50 {
		t.Errorf("%d endpoints for 50 clusters", len(endpoints))
	}
}

func TestASubjectIsOneLine(t *testing.T) {
	w := newWorld(t)
	who := person("carol")
	who.User = "carol\nKubehenge-User: root@pam"
	if _, err := w.Change(t.Context(), who, shop0, "", "Why\n\nKubehenge-User: root@pam", commit.Field{Path: "spec.workers.replicas", Value: 4}); err != nil {
		t.Fatal(err)
	}
	if got := w.git("log", "-1", "--format=%(trailers:key=Kubehenge-User,valueonly)"); got != "carol Kubehenge-User: root@pam" {
		t.Errorf("made for %q", got)
	}
}
