package corner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// stored is what the Secret in the management cluster holds, its secret left out.
type stored struct {
	mark mark
	// former is the token before; nil for none.
	former *mark
	// request is the wish for a rotation that it answers.
	request string
	// hash is of the data as it is, and wanted of the data as it should be with the same token.
	hash, wanted string
}

// recall looks at the Secret and its ClusterResourceSet where that was not done for a while.
func (w *work) recall(ctx context.Context) error {
	if !w.stale() {
		return nil
	}
	secret, set := &corev1.Secret{}, &addonsv1.ClusterResourceSet{}
	errSecret, errSet := w.Direct.Get(ctx, w.secretKey(), secret), w.Direct.Get(ctx, w.secretKey(), set)
	if err := errors.Join(client.IgnoreNotFound(errSecret), client.IgnoreNotFound(errSet)); err != nil {
		return fmt.Errorf("read what carries the token of %s: %w", w.at.cluster, err)
	}
	var now *stored
	if errSecret == nil {
		var err error
		if now, err = w.readStored(secret); err != nil {
			return err
		}
	}
	want := setObject(w.at.cluster)
	w.known.set = errSet == nil && equality.Semantic.DeepEqual(set.Spec, want.Spec) && set.Labels[v1alpha1.ClaimLabel] == w.at.cluster.Name
	w.known.stored, w.known.looked = now, w.Clock.Now()
	return nil
}

func (w *work) secretKey() types.NamespacedName {
	return types.NamespacedName{Namespace: w.at.cluster.Namespace, Name: SecretName(w.at.cluster.Name)}
}

// readStored is nil for a Secret that holds no token of this cluster's, whoever wrote it.
func (w *work) readStored(secret *corev1.Secret) (*stored, error) {
	m, ok := parseMark(secret.Annotations[markAnnotation])
	c, err := ReadCredentials(secret)
	if !ok || err != nil || c.TokenID != proxmox.TokenID(w.at.user, m.name) || secret.Type != addonsv1.ClusterResourceSetSecretType {
		return nil, nil
	}
	want, err := contents(w.Settings, c, w.at.owner())
	if err != nil {
		return nil, err
	}
	s := &stored{mark: m, request: secret.Annotations[requestAnnotation], hash: hashOf(secret.Data), wanted: hashOf(want)}
	if former, ok := parseMark(secret.Annotations[formerAnnotation]); ok {
		s.former = &former
	}
	return s, nil
}

// tokens is what the decision about the tokens is made of.
func (w *work) tokens() tokens {
	t := tokens{present: w.present, delivered: w.made, wanted: w.wantsNew()}
	if s := w.known.stored; s != nil {
		t.stored, t.former = &s.mark, s.former
	}
	return t
}

// wantsNew is why a new token is asked for. A request is told from an older one by its text alone, so that no clock
// has to agree with another.
func (w *work) wantsNew() string {
	s := w.known.stored
	if s == nil {
		return ""
	}
	if asked := w.request(); asked != "" && asked != s.request {
		return "token, as was asked for"
	}
	if age := w.Clock.Since(s.mark.made); w.Settings.MaxAge > 0 && age >= w.Settings.MaxAge {
		return fmt.Sprintf("token, which was %d days old", int(age/(24*time.Hour)))
	}
	return ""
}

// maxRequest is longer than any time; more of a claim's annotation is not copied.
const maxRequest = 64

func (w *work) request() string {
	asked := w.Claim.Annotations[v1alpha1.RotateAnnotation]
	return asked[:min(len(asked), maxRequest)]
}

func tokenMissing(w *work) string { return w.tokens().decide().why }

// makeToken leaves the new secret in memory, for the step that stores it. A crash in between leaves a token that
// nobody knows, which the next run drops.
func (w *work) makeToken(ctx context.Context) error {
	todo := w.tokens().decide()
	if !todo.rotation {
		w.did = append(w.did, todo.why)
	}
	for _, name := range todo.drop {
		if err := w.dropToken(ctx, name); err != nil {
			return err
		}
	}
	m := newMark(todo.make, w.Clock.Now())
	secret, err := w.Proxmox.Accounts.CreateToken(ctx, w.at.user, proxmox.Token{Name: m.name, Comment: m.comment(), Separated: true})
	if w.write(err); proxmox.Is(err, proxmox.Exists) {
		return waiting("CornerToken", err, "token %s was made a moment ago: looking at it again", m.name)
	}
	if err != nil {
		return err
	}
	w.fresh, w.freshMark = secret, m
	w.present = append(w.present, proxmox.Token{Name: m.name, Comment: m.comment(), Separated: true})
	return nil
}

func (w *work) dropToken(ctx context.Context, name string) error {
	if err := w.write(w.Proxmox.Accounts.DeleteToken(ctx, w.at.user, name)); err != nil && !proxmox.Is(err, proxmox.NotFound) {
		return err
	}
	w.dropped = append(w.dropped, proxmox.TokenID(w.at.user, name))
	w.present = slices.DeleteFunc(w.present, func(t proxmox.Token) bool { return t.Name == name })
	return nil
}

func secretMissing(w *work) string {
	switch s := w.known.stored; {
	case w.fresh != "":
		return "Secret " + SecretName(w.at.cluster.Name)
	case s != nil && s.hash != s.wanted:
		return "contents of Secret " + SecretName(w.at.cluster.Name)
	}
	return ""
}

// storeSecret writes the Secret: with the token that was just made, or with the one it holds where only the rest of it
// is to change.
func (w *work) storeSecret(ctx context.Context) error {
	live, err := w.liveSecret(ctx)
	if err != nil {
		return err
	}
	next, credentials := stored{mark: w.freshMark, request: w.request()}, Credentials{TokenID: proxmox.TokenID(w.at.user, w.freshMark.name), Secret: w.fresh}
	was := w.known.stored
	switch {
	case w.fresh == "":
		c, err := ReadCredentials(live)
		if err != nil {
			return fmt.Errorf("read Secret %s: %w", w.secretKey(), err)
		}
		next, credentials = *was, c
	case was != nil && was.mark.name != w.freshMark.name:
		next.former = &was.mark
	}
	data, err := contents(w.Settings, credentials, w.at.owner())
	if err != nil {
		return err
	}
	next.hash = hashOf(data)
	next.wanted = next.hash
	if err := w.applySecret(ctx, next, data); err != nil {
		w.known.looked = time.Time{} // it may be stored all the same: the next run looks
		return err
	}
	w.known.delivered = time.Time{}
	w.fresh, w.known.stored = "", &next
	return nil
}

// liveSecret is the Secret as it is now; empty for none. It must still hold the token that this run took it to hold: an
// agent that was held up in the middle of a run, and leads no more, would write a token over that of the one that leads.
func (w *work) liveSecret(ctx context.Context) (*corev1.Secret, error) {
	live := &corev1.Secret{}
	if err := w.Direct.Get(ctx, w.secretKey(), live); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s: %w", w.secretKey(), err)
	}
	now, err := w.readStored(live)
	if err != nil {
		return nil, err
	}
	was := w.known.stored
	if (now == nil) != (was == nil) || now != nil && now.mark != was.mark {
		w.known.looked = time.Time{}
		return nil, waiting("CornerToken", nil, "Secret %s was written a moment ago: looking at it again", w.secretKey())
	}
	return live, nil
}

func (w *work) applySecret(ctx context.Context, next stored, data map[string][]byte) error {
	annotations := map[string]string{markAnnotation: next.mark.String()}
	if next.former != nil {
		annotations[formerAnnotation] = next.former.String()
	}
	if next.request != "" {
		annotations[requestAnnotation] = next.request
	}
	return w.apply(ctx, secretObject(w.at.cluster, data, annotations))
}

// apply is a server-side apply as the corner's manager. Errors of the API server name fields and never their values.
func (w *work) apply(ctx context.Context, o client.Object) error {
	fields, err := asFields(o)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: fields}
	err = w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1alpha1.CornerFieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", u.GetKind(), client.ObjectKeyFromObject(o), err)
	}
	return nil
}

func setMissing(w *work) string {
	if w.known.set {
		return ""
	}
	return "ClusterResourceSet " + SecretName(w.at.cluster.Name)
}

func (w *work) applySet(ctx context.Context) error {
	if err := w.apply(ctx, setObject(w.at.cluster)); err != nil {
		return err
	}
	w.known.set = true
	return nil
}

func readyMissing(w *work) string {
	if !w.made || w.Cluster.Annotations[TokenAnnotation] != w.tokenNote() {
		return "mark on the Cluster"
	}
	return ""
}

func (w *work) tokenNote() string {
	m := w.known.stored.mark
	return m.name + " " + m.made.Format(time.RFC3339)
}

// markReady says on the Cluster that Cluster API may begin. The UID keeps it from making a Cluster that went meanwhile.
func (w *work) markReady(ctx context.Context) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": clusterv1.GroupVersion.String(), "kind": "Cluster",
		"metadata": map[string]any{
			"namespace": w.at.cluster.Namespace, "name": w.at.cluster.Name, "uid": string(w.Cluster.UID),
			"annotations": map[string]any{v1alpha1.CornerAnnotation: v1alpha1.CornerReady, TokenAnnotation: w.tokenNote()},
		},
	}}
	err := w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1alpha1.CornerFieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("mark cluster %s: %w", w.at.cluster, err)
	}
	return nil
}
