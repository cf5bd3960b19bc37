package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// DigestAnnotation carries the digest of the rendered bytes that an object was applied from, beside the commit
// in v1alpha1.RevisionAnnotation: after a restart it says whether Git changed meanwhile or somebody else did.
const DigestAnnotation = "kubehenge.dev/digest"

// Applier applies objects and remembers how it left them. Safe for concurrent use.
type Applier struct {
	client client.Client
	direct client.Reader

	mu   sync.Mutex
	left map[identity]record
}

// identity is an object's place in the cluster.
type identity struct {
	kind schema.GroupKind
	name types.NamespacedName
}

// record is how an object was left.
type record struct {
	// want is the digest of what was applied.
	want string
	// before is the resource version that the cache showed when it was last looked at, empty for an object that
	// the cache has never shown; after is the one that the apply left. A cache that still shows what it showed
	// before the apply is behind.
	before, after string
	// fields is our manager's set after the apply.
	fields string
}

// New makes an Applier that writes with c, and reads with direct before it deletes.
func New(c client.Client, direct client.Reader) *Applier {
	return &Applier{client: c, direct: direct, left: map[identity]record{}}
}

// Result is what an apply did.
type Result struct {
	// Called is true when the API server was asked; false when the object already was as wanted.
	Called bool
	// Changed is true when the object changed.
	Changed bool
	// Drift are the fields that were put back.
	Drift []Drift
	// Live is the object as it is now; nil when the API server was not asked.
	Live *unstructured.Unstructured
}

// Apply makes the live object what want says, unless it already is. live is the object as the cache has it, nil
// when it has none; only its metadata is read. want is not changed.
func (a *Applier) Apply(ctx context.Context, want *unstructured.Unstructured, live client.Object) (Result, error) {
	id := identityOf(want)
	digest, err := digestOf(want)
	if err != nil {
		return Result{}, err
	}
	if a.asLeft(id, digest, live) {
		return Result{}, nil
	}
	sent := want.DeepCopy()
	err = a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(sent),
		client.FieldOwner(v1alpha1.SyncFieldManager), client.ForceOwnership)
	if err != nil {
		return Result{Called: true}, fmt.Errorf("apply %s %s: %w", want.GetKind(), id.name, err)
	}
	r := Result{Called: true, Live: sent, Changed: live == nil || live.GetResourceVersion() != sent.GetResourceVersion()}
	if live != nil && sameRevision(live, want) {
		if r.Drift, err = drifted(live.GetManagedFields(), sent.GetManagedFields()); err != nil {
			return r, fmt.Errorf("compare %s %s: %w", want.GetKind(), id.name, err)
		}
	}
	a.remember(id, digest, live, sent)
	return r, nil
}

// asLeft is true when nothing was changed since the last apply of the same bytes.
func (a *Applier) asLeft(id identity, digest string, live client.Object) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, known := a.left[id]
	if !known || r.want != digest {
		return false
	}
	if live == nil {
		// Either the cache has not seen the creation yet, or the object was deleted.
		return r.before == ""
	}
	version := live.GetResourceVersion()
	if version == r.before && r.before != r.after {
		return true
	}
	if version != r.after && r.fields != fieldsDigest(live.GetManagedFields()) {
		return false
	}
	r.before = version
	a.left[id] = r
	return true
}

func (a *Applier) remember(id identity, digest string, live client.Object, now *unstructured.Unstructured) {
	r := record{want: digest, after: now.GetResourceVersion(), fields: fieldsDigest(now.GetManagedFields())}
	if live != nil {
		r.before = live.GetResourceVersion()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left[id] = r
}

// Forget makes the next Apply of an object ask the API server: call it when the object was deleted.
func (a *Applier) Forget(kind schema.GroupKind, name types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.left, identity{kind: kind, name: name})
}

// Delete deletes an object that came from Git for the claim with this name, and nothing else: an object that has
// another label, or none of our fields, is left. Absent is success.
func (a *Applier) Delete(ctx context.Context, ref v1alpha1.ObjectReference, claim string) (bool, error) {
	name := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	kind := schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
	mapping, err := a.client.RESTMapper().RESTMapping(kind)
	if err != nil {
		return false, wrap(err, "find the kind of", ref)
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := a.direct.Get(ctx, name, live); err != nil {
		return false, client.IgnoreNotFound(wrap(err, "read", ref))
	}
	if live.Labels[v1alpha1.ClaimLabel] != claim || !Owned(live.ManagedFields) {
		return false, nil
	}
	uid := live.UID
	err = a.client.Delete(ctx, live, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, wrap(err, "delete", ref)
	}
	a.Forget(kind, name)
	return true, nil
}

func wrap(err error, verb string, ref v1alpha1.ObjectReference) error {
	return fmt.Errorf("%s %s %s/%s: %w", verb, ref.Kind, ref.Namespace, ref.Name, err)
}

func identityOf(o *unstructured.Unstructured) identity {
	return identity{kind: o.GroupVersionKind().GroupKind(), name: client.ObjectKeyFromObject(o)}
}

func sameRevision(live client.Object, want *unstructured.Unstructured) bool {
	digest := want.GetAnnotations()[DigestAnnotation]
	return digest != "" && live.GetAnnotations()[DigestAnnotation] == digest
}

func digestOf(o *unstructured.Unstructured) (string, error) {
	data, err := json.Marshal(o.Object)
	if err != nil {
		return "", fmt.Errorf("encode %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

func fieldsDigest(managed []metav1.ManagedFieldsEntry) string {
	f := ownFields(managed)
	if f == nil {
		return ""
	}
	sum := sha256.Sum256(f.Raw)
	return hex.EncodeToString(sum[:])
}
