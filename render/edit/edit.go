// Package edit changes a field of a claim's YAML and leaves every other byte of the file as people wrote it: comments, order, quotes, indentation.
//
// A change is made in the text, at the positions that the parser gives, and then proven: the changed file must decode to the old value with just this
// field changed, or the change is refused. So an unusual form of YAML can lead to a refusal and never to another meaning.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"go.yaml.in/yaml/v3"

	"kubehenge.dev/render/strict"
)

var (
	// ErrNoClaim says that the file holds no ClusterClaim, or more than one.
	ErrNoClaim = errors.New("the file must hold one ClusterClaim")
	// ErrForm says that the field is written in a form that cannot be changed without touching more than the field.
	ErrForm = errors.New("the field is written in a form that must be edited by hand")
)

// Set writes a value at the path of a field, such as spec.workers.replicas or spec.pools[1].size. The value is a string, a bool, a number, or maps and
// lists of them. Fields above it that are missing are made; an index one beyond a list's end appends to it.
func Set(content []byte, path string, value any) ([]byte, error) {
	value, err := plain(value)
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", path, err)
	}
	return change(content, path, func(t *text, root *yaml.Node, steps []string) (edit, error) { return t.set(root, steps, value) },
		func(doc any, steps []string) (any, error) { return setIn(doc, steps, value) })
}

// Delete takes a field away, or an item of a list. What is not there is no error.
func Delete(content []byte, path string) ([]byte, error) {
	return change(content, path, func(t *text, root *yaml.Node, steps []string) (edit, error) { return t.remove(root, steps) }, deleteIn)
}

// Get is the value at a path, decoded; nil when it is not there.
func Get(content []byte, path string) (any, error) {
	docs, at, err := claimIn(content)
	if err != nil {
		return nil, err
	}
	node := strict.NodeIn(docs[at], path)
	if node == nil {
		return nil, nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return value, nil
}

// change makes an edit and proves it against the same change of the decoded value.
func change(content []byte, path string, make func(*text, *yaml.Node, []string) (edit, error), expect func(any, []string) (any, error)) ([]byte, error) {
	docs, at, err := claimIn(content)
	if err != nil {
		return nil, err
	}
	steps := strict.Steps(path)
	if len(steps) == 0 {
		return nil, fmt.Errorf("change %q: the path is empty", path)
	}
	want, err := decodeAll(docs)
	if err != nil {
		return nil, err
	}
	if want[at], err = expect(want[at], steps); err != nil {
		return nil, fmt.Errorf("change %s: %w", path, err)
	}
	t := newText(content)
	e, err := make(t, docs[at], steps)
	if err != nil {
		return nil, fmt.Errorf("change %s: %w", path, err)
	}
	changed := t.apply(e)
	if !proves(changed, want) {
		return nil, fmt.Errorf("change %s: %w", path, ErrForm)
	}
	return changed, nil
}

func proves(changed []byte, want []any) bool {
	docs, err := parse(changed)
	if err != nil {
		return false
	}
	got, err := decodeAll(docs)
	return err == nil && reflect.DeepEqual(got, want)
}

func parse(content []byte) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return docs, nil
			}
			return nil, fmt.Errorf("no valid YAML: %w", err)
		}
		docs = append(docs, doc.Content[0])
	}
}

// claimIn finds the one ClusterClaim among a file's documents.
func claimIn(content []byte) (docs []*yaml.Node, at int, err error) {
	if docs, err = parse(content); err != nil {
		return nil, 0, err
	}
	at = -1
	for i, doc := range docs {
		if kind := strict.NodeIn(doc, "kind"); kind != nil && kind.Value == "ClusterClaim" {
			if at >= 0 {
				return nil, 0, ErrNoClaim
			}
			at = i
		}
	}
	if at < 0 {
		return nil, 0, ErrNoClaim
	}
	return docs, at, nil
}

func decodeAll(docs []*yaml.Node) ([]any, error) {
	values := make([]any, len(docs))
	for i, doc := range docs {
		if err := doc.Decode(&values[i]); err != nil {
			return nil, fmt.Errorf("no valid YAML: %w", err)
		}
	}
	return values, nil
}

// plain gives a value the types that decoding gives.
func plain(value any) (any, error) {
	written, err := yaml.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("cannot be written as YAML: %w", err)
	}
	var decoded any
	if err := yaml.Unmarshal(written, &decoded); err != nil {
		return nil, fmt.Errorf("cannot be written as YAML: %w", err)
	}
	return decoded, nil
}
