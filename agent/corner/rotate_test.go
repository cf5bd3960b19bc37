package corner

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// tokenNamesOf are the names of the user's tokens in Proxmox VE.
func (w *world) tokenNamesOf() string {
	w.t.Helper()
	var names []string
	for _, token := range w.user().Tokens {
		names = append(names, token.Name)
	}
	return strings.Join(names, " ")
}

func TestARotationLeavesNoGap(t *testing.T) {
	w := newWorld(t)
	w.asked()
	old, note := w.credentials(), w.request().Cluster.Annotations[TokenAnnotation]
	w.mustEnsure()
	fresh := w.credentials()
	stage := func(name, tokens string) {
		t.Helper()
		if got := w.tokenNamesOf(); got != tokens {
			t.Errorf("%s: tokens %s, want %s", name, got, tokens)
		}
		if err := w.works(fresh); err != nil {
			t.Errorf("%s: the new token: %v", name, err)
		}
		if err := w.works(old); (err == nil) != strings.Contains(tokens, "cluster ") {
			t.Errorf("%s: the old token: %v", name, err)
		}
	}
	stage("made", "cluster cluster-2")
	w.mustEnsure()
	stage("not delivered", "cluster cluster-2")
	if notices := w.keeper.Board.Notices(shop); len(notices) != 1 || notices[0].Sentence != "waiting for the cluster to take its new Proxmox VE token; until then the former one stays valid" {
		t.Errorf("said: %+v", notices)
	}
	w.deliver()
	w.mustEnsure()
	stage("within the grace", "cluster cluster-2")
	if notices := w.keeper.Board.Notices(shop); len(notices) != 0 {
		t.Errorf("still said: %+v", notices)
	}
	w.clock.Step(w.keeper.Settings.Grace)
	if !w.watched() {
		t.Error("the watch forgets the rotation")
	}
	w.mustEnsure()
	stage("done", "cluster-2")
	if now := w.request().Cluster.Annotations[TokenAnnotation]; now == note || !strings.HasPrefix(now, "cluster-2 2026-11-30T") {
		t.Errorf("the Cluster says %q, before %q", now, note)
	}
	if told := w.events.all(); !strings.Contains(told, "TokenRotated: The cluster uses its Proxmox VE token cluster-2; token cluster is deleted") || strings.Contains(told, "PutBack") {
		t.Errorf("told: %s", told)
	}
	w.mustEnsure()
	stage("later", "cluster-2")
}

func TestASecondWishWaitsForTheFirst(t *testing.T) {
	w := newWorld(t)
	w.asked()
	w.mustEnsure()
	first := w.credentials()
	w.ask("2026-11-30T13:00:00Z")
	w.mustEnsure()
	if w.credentials() != first {
		t.Fatal("a second rotation began while the cluster may use the first token")
	}
	w.deliver()
	w.mustEnsure()
	w.clock.Step(w.keeper.Settings.Grace)
	w.until(func() error {
		err := w.ensure()
		if err == nil && w.credentials() == first {
			return errors.New("the second wish is not heard")
		}
		return err
	})
	if c := w.credentials(); c.TokenID != shopUser+"!cluster" {
		t.Errorf("the token in force is %s", c.TokenID)
	}
}

// TestARequestIsAnsweredOnce whatever the clock of whoever asked says, and whatever it says.
func TestARequestIsAnsweredOnce(t *testing.T) {
	for name, wish := range map[string]string{
		"a time in the past": "1999-01-01T00:00:00Z", "a time to come": "2999-01-01T00:00:00Z", "no time at all": "now!",
		"something long and strange": strings.Repeat("\x00\n\"'{{}}", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mustEnsure()
			w.deliver()
			before := w.credentials()
			w.ask(wish)
			w.until(w.rotated)
			after := w.credentials()
			for range 4 {
				w.start()
				w.until(w.rotated)
			}
			if before == after || w.credentials() != after {
				t.Error("not rotated once")
			}
		})
	}
}

func TestTokensAreRotatedByAge(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.deliver()
	first := w.credentials()
	w.clock.Step(w.keeper.Settings.MaxAge - time.Minute)
	w.mustEnsure()
	if w.credentials() != first {
		t.Error("rotated before its time")
	}
	w.clock.Step(time.Minute)
	if !w.watched() {
		t.Error("the watch does not see the age")
	}
	w.until(w.rotated)
	if w.credentials() == first || w.tokenNamesOf() != "cluster-2" {
		t.Errorf("tokens: %s", w.tokenNamesOf())
	}
	w.keeper.Settings.MaxAge = 0
	second := w.credentials()
	w.clock.Step(20 * 365 * 24 * time.Hour)
	w.mustEnsure()
	if w.credentials() != second {
		t.Error("rotated though no age is set")
	}
}

// TestAForeignBindingProvesNothing has the binding speak of other Secrets, sets and contents.
func TestOnlyTheSecretAsItIsCountsAsDelivered(t *testing.T) {
	for name, edit := range map[string]func(b *addonsv1.ResourceSetBinding){
		"another set":        func(b *addonsv1.ResourceSetBinding) { b.ClusterResourceSetName = "theirs" },
		"another Secret":     func(b *addonsv1.ResourceSetBinding) { b.Resources[0].Name = "theirs" },
		"other contents":     func(b *addonsv1.ResourceSetBinding) { b.Resources[0].Hash = "sha256:00" },
		"tried and failed":   func(b *addonsv1.ResourceSetBinding) { *b.Resources[0].Applied = false },
		"nothing is told of": func(b *addonsv1.ResourceSetBinding) { b.Resources[0].Applied = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.asked()
			w.mustEnsure()
			w.deliver()
			binding := &addonsv1.ClusterResourceSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}
			if err := w.client.Get(t.Context(), shop, binding); err != nil {
				t.Fatal(err)
			}
			edit(&binding.Spec.Bindings[0])
			if err := w.client.Update(t.Context(), binding); err != nil {
				t.Fatal(err)
			}
			w.mustEnsure()
			w.clock.Step(w.keeper.Settings.Grace)
			w.mustEnsure()
			if got := w.tokenNamesOf(); got != "cluster cluster-2" {
				t.Errorf("tokens: %s", got)
			}
		})
	}
}

// TestTheGraceIsMeasuredByOneClock has Cluster API's clock, whose time stands in the binding, go wrong by any amount.
func TestTheGraceIsMeasuredByOneClock(t *testing.T) {
	for name, off := range map[string]time.Duration{"a year behind": -365 * 24 * time.Hour, "a year ahead": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.asked()
			w.mustEnsure()
			w.deliver()
			binding := &addonsv1.ClusterResourceSetBinding{}
			if err := w.client.Get(t.Context(), shop, binding); err != nil {
				t.Fatal(err)
			}
			at := &binding.Spec.Bindings[0].Resources[0].LastAppliedTime
			at.Time = at.Add(off)
			if err := w.client.Update(t.Context(), binding); err != nil {
				t.Fatal(err)
			}
			for range int(w.keeper.Settings.Grace/proxmox.DefaultAge) - 1 {
				w.mustEnsure()
				if got := w.tokenNamesOf(); got != "cluster cluster-2" {
					t.Fatalf("tokens %s after less than the grace", got)
				}
			}
			w.mustEnsure()
			w.mustEnsure()
			if got := w.tokenNamesOf(); got != "cluster-2" {
				t.Errorf("tokens %s after the grace", got)
			}
		})
	}
}

// TestATokenThatIsLostAmidARotationCostsNoOther has the new token deleted by hand while the cluster has begun to use it.
func TestATokenThatIsLostAmidARotationCostsNoOther(t *testing.T) {
	w := newWorld(t)
	w.asked()
	old := w.credentials()
	w.mustEnsure()
	w.deliver()
	w.mustEnsure()
	lost := w.credentials()
	if err := w.root.Accounts().DeleteToken(t.Context(), shopUser, "cluster-2"); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(w.keeper.Settings.Grace)
	w.mustEnsure()
	if err := w.works(old); err != nil || w.credentials() == lost {
		t.Fatalf("the old token, which alone is in the cluster: %v", err)
	}
	w.deliver()
	w.mustEnsure()
	if err := w.works(old); err != nil {
		t.Errorf("the old token goes before the cluster can have read the newest: %v", err)
	}
	w.clock.Step(w.keeper.Settings.Grace)
	w.mustEnsure()
	if wrong := w.auditRotated(); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// TestASecretThatIsRefusedLeavesTheOldTokenInForce has the API server take no Secret for a while.
func TestASecretThatIsRefusedLeavesTheOldTokenInForce(t *testing.T) {
	w := newWorld(t)
	w.asked()
	old := w.credentials()
	w.refuse = refuseSecrets
	for range 3 {
		if err := w.ensure(); err == nil {
			t.Fatal("nobody noticed")
		}
	}
	if err := w.works(old); err != nil || w.credentials() != old {
		t.Errorf("the old token: %v", err)
	}
	w.refuse = nil
	w.until(w.rotated)
	if wrong := w.auditRotated(); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	if v1alpha1.ClusterToken != tokenNames[0] {
		t.Error("the first token has another name than the API says")
	}
}
