package review_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/appliance/review"
	"kubehenge.dev/classes"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

func repository(t *testing.T) *render.MemoryTree {
	t.Helper()
	files := sample.Overlays(3)
	files[render.FleetFile] = []byte(sample.Fleet)
	entries, err := classes.Files.ReadDir("kubeadm-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files["classes/kubeadm-1/"+e.Name()], err = classes.Files.ReadFile("kubeadm-1/" + e.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return render.Memory(files)
}

func with(t *testing.T, tree *render.MemoryTree, file, old, new string) *render.MemoryTree {
	t.Helper()
	content, err := tree.ReadFile(file)
	if err != nil || !strings.Contains(string(content), old) {
		t.Fatalf("%s does not hold %q: %v", file, old, err)
	}
	return tree.With(file, []byte(strings.Replace(string(content), old, new, 1)))
}

func TestWhatIsWrongWithAChange(t *testing.T) {
	shop0, shop1 := sample.ClaimFile(0), sample.ClaimFile(1)
	whole := repository(t)
	broken := with(t, whole, shop1, "replicas: 3", "replicas: 2")
	for name, test := range map[string]struct {
		before, after *render.MemoryTree
		want          []string
	}{
		"nothing": {whole, with(t, whole, shop0, "replicas: 2", "replicas: 5"), nil},
		"a field that is not known": {whole, with(t, whole, shop0, "workers:", "wrkers:"),
			[]string{shop0 + ":13: spec.wrkers: unknown field; did you mean workers?"}},
		"what stays after creation": {whole, with(t, whole, shop0, "10.0.1.0", "10.0.1.99"),
			[]string{shop0 + ":9: spec.endpoint: stays after creation: it is 10.0.1.0 and cannot become 10.0.1.99"}},
		"a claim that vanishes": {whole, whole.With(shop0, nil).With(sample.Folder(0)+"/kustomization.yaml", nil),
			[]string{shop0 + ": the claim team-0/shop-0 vanishes, which deletes nothing; put it back, with state: Deleted if the cluster is to go"}},
		"another's problem, which was there before, is nobody's here": {broken, with(t, broken, shop0, "replicas: 2", "replicas: 5"), nil},
		"a problem that the change leaves in what it touches": {broken, with(t, broken, shop1, "workers: {replicas: 2", "workers: {replicas: 5"),
			[]string{shop1 + ":12: spec.controlPlane.replicas: must be 1, 3 or 5, is 2"}},
		"an endpoint that another has": {whole, whole.With("clusters/x/claim.yaml", []byte(strings.Replace(string(sample.Claim(0, 1)), "name: shop-0", "name: new", 1))).
			With("clusters/x/kustomization.yaml", sample.Overlays(1)[sample.Folder(0)+"/kustomization.yaml"]),
			[]string{shop0 + ":9: spec.endpoint: the endpoint 10.0.1.0 of network lan is also asked for by clusters/x/claim.yaml",
				"clusters/x/claim.yaml:9: spec.endpoint: the endpoint 10.0.1.0 of network lan is also asked for by " + shop0}},
		"no Fleet": {whole, whole.With(render.FleetFile, nil), []string{render.FleetFile + ": no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := review.New(nil).Judge(t.Context(), test.before, test.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range v.Problems {
				got = append(got, p.String())
			}
			if name == "no Fleet" && len(got) > 0 {
				got = got[:1]
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNeedsComeWithTheVerdict(t *testing.T) {
	whole := repository(t)
	j := review.New(func(context.Context) (map[string]string, error) { return map[string]string{"vmbr0": "zone1"}, nil })
	for range 2 { // the second time everything is remembered
		v, err := j.Judge(t.Context(), whole, with(t, whole, sample.ClaimFile(0), "replicas: 2", "replicas: 5"))
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Needs) != 1 || v.Needs[0].String() != "changing team-0/shop-0 takes VM.Allocate on /pool/kubehenge/team-0.shop-0" {
			t.Errorf("needs %v", v.Needs)
		}
		if diff := cmp.Diff([]string{sample.ClaimFile(0)}, v.Paths); diff != "" {
			t.Error(diff)
		}
	}
	failed := errors.New("no answer")
	if _, err := review.New(func(context.Context) (map[string]string, error) { return nil, failed }).Judge(t.Context(), whole, whole); !errors.Is(err, failed) {
		t.Errorf("without the zones: %v", err)
	}
}
