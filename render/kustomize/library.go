package kustomize

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// libraryLock serialises the kustomize library, which is not safe for concurrent use. https://github.com/kubernetes-sigs/kustomize/issues/3659
var libraryLock sync.Mutex

// library builds the scanned folder with the kustomize library, on a file system that holds the scanned files and nothing else.
func library(s *scan, folder string) ([]map[string]any, error) {
	m, err := runLibrary(s, folder)
	if err != nil {
		return nil, err
	}
	objects := make([]map[string]any, 0, m.Size())
	for _, r := range m.Resources() {
		text, err := r.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func runLibrary(s *scan, folder string) (m resmap.ResMap, err error) {
	files := filesys.MakeFsInMemory()
	for name, f := range s.files {
		if f == nil {
			continue
		}
		if err := files.WriteFile("/"+name, f.content); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	libraryLock.Lock()
	defer libraryLock.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("gave up on these files (%v)", r)
		}
	}()
	return krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionNone,
		LoadRestrictions: types.LoadRestrictionsRootOnly,
		PluginConfig:     types.DisabledPluginConfig(),
	}).Run(files, path.Join("/", folder))
}

// explain shortens what the library says, whose errors repeat themselves layer by layer.
func explain(err error) string {
	var inner error
	for inner = err; errors.Unwrap(inner) != nil; {
		inner = errors.Unwrap(inner)
	}
	text := inner.Error()
	if len(text) < 12 {
		text = err.Error()
	}
	if len(text) > 400 {
		text = text[:400] + "..."
	}
	return strings.Join(strings.Fields(text), " ")
}
