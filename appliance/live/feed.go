package live

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// thin stands for an object of which only what is shown is left, so that lists of large objects never are in memory as a whole.
type thin struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	value any // nil: nothing of it is shown
}

// DeepCopyObject gives itself: what is thin is never changed.
func (t *thin) DeepCopyObject() runtime.Object { return t }

// thinList is a page of a list.
type thinList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []*thin
}

// DeepCopyObject gives itself: what is thin is never changed.
func (l *thinList) DeepCopyObject() runtime.Object { return l }

// page is how many objects are listed at once.
const page = 500

// feed lists and watches the objects of one kind for a reflector.
type feed struct {
	reader client.WithWatch
	kind   *kind
	failed func(error) // told what a list or watch ended with; nil when it was answered
}

// pages is a feed as a reflector takes it.
type pages struct{ *toolscache.ListWatch }

// IsWatchListSemanticsUnSupported has the reflector list in pages: what it streams it would keep whole until the last.
func (pages) IsWatchListSemanticsUnSupported() bool { return true }

func (f *feed) pages() pages {
	return pages{&toolscache.ListWatch{ListWithContextFunc: f.list, WatchFuncWithContext: f.watch}}
}

func (f *feed) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list := f.kind.list()
	if o.ResourceVersion == "0" {
		o.ResourceVersion = "" // with 0 the API server takes no notice of the limit
	}
	err := f.reader.List(ctx, list, &client.ListOptions{Limit: page, Continue: o.Continue, Raw: &o})
	f.failed(err)
	if err != nil {
		return nil, err
	}
	out := &thinList{ListMeta: metav1.ListMeta{ResourceVersion: list.GetResourceVersion(), Continue: list.GetContinue()}}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		t, err := f.thin(item)
		out.Items = append(out.Items, t)
		return err
	})
	return out, err
}

func (f *feed) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := f.reader.Watch(ctx, f.kind.list(), &client.ListOptions{Raw: &o})
	f.failed(err)
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		if e.Type == watch.Error {
			return e, true
		}
		t, err := f.thin(e.Object)
		e.Object = t
		return e, err == nil
	}), nil
}

func (f *feed) thin(item runtime.Object) (*thin, error) {
	o, ok := item.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", item)
	}
	return &thin{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName(), ResourceVersion: o.GetResourceVersion(), Annotations: bookmark(o)}, value: f.kind.rows.trim(o)}, nil
}

// bookmark keeps what a reflector reads of a bookmark.
func bookmark(o client.Object) map[string]string {
	if v, is := o.GetAnnotations()[metav1.InitialEventsAnnotationKey]; is {
		return map[string]string{metav1.InitialEventsAnnotationKey: v}
	}
	return nil
}

// shelf puts what a reflector reads into the model.
type shelf struct {
	model *Model
	kind  *kind
	round int // what an earlier round of watching brings no longer counts
}

var _ toolscache.ReflectorStore = &shelf{}

func keyOf(t *thin) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Namespace, Name: t.Name}
}

// Add implements cache.ReflectorStore.
func (s *shelf) Add(o any) error { return s.Update(o) }

// Update implements cache.ReflectorStore.
func (s *shelf) Update(o any) error {
	t, ok := o.(*thin)
	if !ok {
		return fmt.Errorf("%T is not thin", o)
	}
	s.model.change(s, func() bool {
		if t.value == nil {
			return s.kind.rows.remove(keyOf(t))
		}
		return s.kind.rows.set(keyOf(t), t.value)
	})
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *shelf) Delete(o any) error {
	t, ok := o.(*thin)
	if !ok {
		return fmt.Errorf("%T is not thin", o)
	}
	s.model.change(s, func() bool { return s.kind.rows.remove(keyOf(t)) })
	return nil
}

// Replace implements cache.ReflectorStore: a list is complete.
func (s *shelf) Replace(list []any, _ string) error {
	all := make(map[types.NamespacedName]any, len(list))
	for _, o := range list {
		if t, ok := o.(*thin); ok && t.value != nil {
			all[keyOf(t)] = t.value
		}
	}
	s.model.listed(s, func() bool { return s.kind.rows.replace(all) })
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *shelf) Resync() error { return nil }
