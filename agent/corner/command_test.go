package corner

import (
	"strings"
	"testing"
	"time"

	"kubehenge.dev/api/v1alpha1"
)

func TestARotationIsAskedForAtTheClaim(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	before := w.credentials()
	var out strings.Builder
	now := time.Date(2026, 11, 30, 13, 0, 0, 0, time.FixedZone("x", 3600))
	if err := askForRotation(t.Context(), w.client, "team-a/shop", now, &out); err != nil {
		t.Fatal(err)
	}
	if got := w.request().Claim.Annotations[v1alpha1.RotateAnnotation]; got != "2026-11-30T12:00:00Z" {
		t.Errorf("the annotation is %q", got)
	}
	if !strings.HasPrefix(out.String(), "team-a/shop gets a new Proxmox VE token") {
		t.Errorf("said %q", out.String())
	}
	w.mustEnsure()
	if w.credentials() == before {
		t.Error("there is no new token")
	}
	for arg, want := range map[string]string{
		"team-a/cart": "there is no claim team-a/cart: kubectl get clusterclaims -A lists those there are",
		"shop":        `"shop" is not of the form NAMESPACE/CLUSTER`,
		"a/b/c":       `"a/b/c" is not of the form NAMESPACE/CLUSTER`,
		"/shop":       `"/shop" is not of the form NAMESPACE/CLUSTER`,
	} {
		if err := askForRotation(t.Context(), w.client, arg, now, &out); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", arg, err)
		}
	}
}

func TestTheVerbNamesItsArgument(t *testing.T) {
	cmd := Command()
	cmd.SetArgs([]string{})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.Execute(); err == nil || cmd.Flag("kubeconfig") == nil {
		t.Errorf("got %v", err)
	}
}
