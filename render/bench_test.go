package render_test

import (
	"context"
	"fmt"
	"maps"
	"syscall"
	"testing"
	"time"

	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// fleetOf is a repository with n overlays of the common form, in namespaces of 100 clusters.
func fleetOf(t testing.TB, n int) map[string][]byte {
	files := repository(t)
	delete(files, "clusters/examples/hello/kustomization.yaml")
	delete(files, "clusters/examples/hello/claim.yaml")
	files[render.FleetFile] = []byte(sample.Fleet)
	maps.Copy(files, sample.Overlays(n))
	return files
}

func noProblems(t testing.TB, r *render.Rendering, overlays int) {
	t.Helper()
	if p := r.Problems(); len(p) > 0 {
		t.Fatalf("%d problems, the first: %v", len(p), p[0])
	}
	if len(r.Overlays) != overlays {
		t.Fatalf("%d overlays, want %d", len(r.Overlays), overlays)
	}
}

func BenchmarkFullRender(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		tree := render.Memory(fleetOf(b, n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			defer reportCPU(b, processCPU())
			for b.Loop() {
				r, err := render.New().Render(context.Background(), tree)
				if err != nil {
					b.Fatal(err)
				}
				noProblems(b, r, n)
			}
		})
	}
}

// BenchmarkFullRenderOfBases is the form that the kustomize library builds: a base, a component and a patch.
func BenchmarkFullRenderOfBases(b *testing.B) {
	const n = 1000
	files := fleetOf(b, 0)
	files["clusters/_base/kustomization.yaml"] = []byte("resources: [claim.yaml]\n")
	files["clusters/_base/claim.yaml"] = sample.Claim(0, 2)
	files["clusters/_config/kustomization.yaml"] = []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [map.yaml]\n")
	files["clusters/_config/map.yaml"] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n")
	for i := range n {
		files[sample.Folder(i)+"/kustomization.yaml"] = fmt.Appendf(nil, `namespace: n-%d
resources: [../../_base]
components: [../../_config]
patches:
- patch: |-
    apiVersion: kubehenge.dev/v1alpha1
    kind: ClusterClaim
    metadata: {name: shop-0}
    spec: {endpoint: 10.0.%d.%d}
`, i, 1+i/256, i%256)
	}
	tree := render.Memory(files)
	b.ReportAllocs()
	defer reportCPU(b, processCPU())
	for b.Loop() {
		r, err := render.New().Render(context.Background(), tree)
		if err != nil {
			b.Fatal(err)
		}
		noProblems(b, r, n)
	}
}

func BenchmarkOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		tree := render.Memory(fleetOf(b, n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			renderer := render.New()
			if _, err := renderer.Render(context.Background(), tree); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			defer reportCPU(b, processCPU())
			i := 0
			for b.Loop() {
				i++
				at := i * 37 % n
				tree = tree.With(sample.ClaimFile(at), sample.Claim(at, 3+i%5))
				r, err := renderer.Render(context.Background(), tree)
				if err != nil {
					b.Fatal(err)
				}
				noProblems(b, r, n)
			}
		})
	}
}

// reportCPU reports the processor time of one operation, all threads and garbage collection included: on a busy machine it says more than the wall's.
func reportCPU(b *testing.B, before time.Duration) {
	b.ReportMetric(float64((processCPU()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
