package live

import (
	"reflect"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// table keeps of each object O of a kind a value T, which is never changed once it is in.
type table[O client.Object, T any] struct {
	rows map[types.NamespacedName]*T
	of   func(O) *T
	left func(key types.NamespacedName, last *T) // told what goes; nil where nobody minds
}

func newTable[O client.Object, T any](of func(O) *T) table[O, T] {
	return table[O, T]{rows: map[types.NamespacedName]*T{}, of: of}
}

func (t *table[O, T]) trim(o client.Object) any {
	object, ok := o.(O)
	if !ok {
		return nil
	}
	return t.of(object)
}

func (t *table[O, T]) set(key types.NamespacedName, value any) bool {
	now, ok := value.(*T)
	if !ok || reflect.DeepEqual(t.rows[key], now) {
		return false
	}
	t.rows[key] = now
	return true
}

func (t *table[O, T]) remove(key types.NamespacedName) bool {
	last, there := t.rows[key]
	delete(t.rows, key)
	if there && t.left != nil {
		t.left(key, last)
	}
	return there
}

// replace keeps what is in the list and nothing else.
func (t *table[O, T]) replace(all map[types.NamespacedName]any) bool {
	changed := false
	for key := range t.rows {
		if _, stays := all[key]; !stays {
			changed = t.remove(key) || changed
		}
	}
	for key, value := range all {
		changed = t.set(key, value) || changed
	}
	return changed
}
