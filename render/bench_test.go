package render_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"kubehenge.dev/render"
)

// fleetOf is a repository with n overlays of the common form, in namespaces of 100 clusters.
func fleetOf(t testing.TB, n int) map[string][]byte {
	files := repository(t)
	delete(files, "clusters/examples/hello/kustomization.yaml")
	delete(files, "clusters/examples/hello/claim.yaml")
	files["clusters/fleet.yaml"] = []byte(`apiVersion: kubehenge.dev/v1alpha1
kind: Fleet
metadata:
  name: fleet
spec:
  proxmox:
    workloadPool: kubehenge
    templatePool: kubehenge-templates
    nodes: [pve1, pve2, pve3]
    storages: [shared]
    vmIDs: {start: 20000, end: 2999999}
  networks:
  - {name: lan, bridge: vmbr0, subnet: 10.0.0.0/9, gateway: 10.0.0.1, dns: [10.0.0.1], endpoints: [10.0.1.0-10.0.255.255], nodes: [10.1.0.0-10.100.255.255]}
  sizes:
  - {name: small, cpu: 2, memory: 4Gi, disk: 20Gi}
  - {name: medium, cpu: 4, memory: 8Gi, disk: 40Gi}
`)
	for i := range n {
		folder := fmt.Sprintf("clusters/team-%d/shop-%d", i/100, i)
		files[folder+"/kustomization.yaml"] = []byte(fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: team-%d
resources:
- claim.yaml
`, i/100))
		files[folder+"/claim.yaml"] = claim(i, 2)
	}
	return files
}

func claim(i, workers int) []byte {
	return []byte(fmt.Sprintf(`apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: shop-%d
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: 10.0.%d.%d
  podCIDR: 10.244.0.0/16
  serviceCIDR: 172.20.0.0/16
  controlPlane: {replicas: 3, size: small}
  workers: {replicas: %d, size: medium}
`, i, 1+i/256, i%256, workers))
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
				tree = tree.With(fmt.Sprintf("clusters/team-%d/shop-%d/claim.yaml", at/100, at), claim(at, 3+i%5))
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
