package appliance

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/sample"
)

// of1000 is an appliance with 1,000 clusters of five machines each, all running.
func of1000(b *testing.B) *world {
	b.Helper()
	objects := []client.Object{&v1alpha1.Fleet{}}
	objects[0].SetName(v1alpha1.FleetName)
	for i := range 1000 {
		namespace, name := fmt.Sprintf("team-%d", i/100), fmt.Sprintf("shop-%d", i)
		objects = append(objects, liveClaim(namespace, name))
		for m := range 1 + sample.Workers + 2 {
			objects = append(objects, liveMachine(namespace, name, fmt.Sprintf("%s-%d", name, m)))
		}
	}
	w := newWorldOf(b, 1000, objects...)
	w.watch(types.NamespacedName{Namespace: "team-9", Name: "shop-999"})
	return w
}

// BenchmarkListOf1000Clusters is what the page asks most: all clusters, by somebody who sees all of them.
func BenchmarkListOf1000Clusters(b *testing.B) {
	w := of1000(b)
	for _, path := range []string{"/api/clusters", "/api/fleet", "/api/clusters/team-5/shop-500"} {
		for _, user := range []string{"root@pam", "bob@pve"} {
			who := w.signedIn(user)
			who.send(http.MethodGet, path, nil) // Proxmox VE is asked once in half a minute
			b.Run(path+" as "+user, func(b *testing.B) {
				size := 0
				for b.Loop() {
					rec := who.send(http.MethodGet, path, nil)
					if rec.Code != http.StatusOK {
						b.Fatal(rec.Code, rec.Body)
					}
					size = rec.Body.Len()
				}
				b.ReportMetric(float64(size)/1000, "kB")
			})
		}
	}
	b.Run("compressed", func(b *testing.B) {
		who, size := w.signedIn("bob@pve"), 0
		for b.Loop() {
			size = who.sendWith(http.MethodGet, "/api/clusters", "", map[string]string{"Accept-Encoding": "gzip"}).Body.Len()
		}
		b.ReportMetric(float64(size)/1000, "kB")
	})
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	b.Logf("%.0f MB are in memory, with the simulated Proxmox VE and the management cluster", float64(s.HeapAlloc)/1e6)
}
