package lab_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/lab"
)

// TestARealPacedLabBesideAnother brings a cluster up with the provider's and Proxmox VE's own waits, in a lab beside
// the one of TestMainLoop.
func TestARealPacedLabBesideAnother(t *testing.T) {
	t.Parallel()
	l := startLab(t, lab.Options{Index: mainLoopIndex + 1, DataDir: filepath.Join(t.TempDir(), "lab"), Pace: 1})
	w := &world{lab: l, kube: kubeClient(t, l.Kubeconfig)}
	w.refusesASecondStart(t)
	files := map[string][]byte{
		"clusters/team-a/slow/kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: team-a\nresources: [claim.yaml]\n"),
		"clusters/team-a/slow/claim.yaml": fmt.Appendf(nil, `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata: {name: slow}
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: %s
  controlPlane: {replicas: 1, size: small}
`, l.Endpoint(0)),
	}
	started := time.Now()
	if _, err := l.Commit(t.Context(), "A cluster as in life", files); err != nil {
		t.Fatal(err)
	}
	w.running(t, "team-a", "slow", 1, 10*time.Minute)
	took := time.Since(started)
	t.Logf("one control-plane VM at the real pace took %s", took.Round(time.Second))
	if took < 30*time.Second {
		t.Errorf("it took %s; the provider alone waits longer between its looks", took)
	}
	until(t, time.Minute, "the boot medium is taken away", func() string {
		if isos := l.Proxmox.Snapshot().ISOs(); len(isos) > 0 {
			return isos[0].ID
		}
		return ""
	})
}

// refusesASecondStart starts the same lab again and expects to be told who has it.
func (w *world) refusesASecondStart(t *testing.T) {
	t.Helper()
	l, err := lab.Start(t.Context(), lab.Options{Index: mainLoopIndex + 1, DataDir: filepath.Join(t.TempDir(), "second")})
	if err == nil {
		l.Stop()
		t.Fatal("the same lab started twice")
	}
	for _, word := range []string{"taken", w.lab.DataDir(), "--index"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the refusal does not say %q: %v", word, err)
		}
	}
}
