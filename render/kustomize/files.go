package kustomize

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kubehenge.dev/render/problem"
)

// file is a file of the tree that was read.
type file struct {
	path    string
	content []byte
	docs    []*yaml.Node // the documents that are not empty
}

// scan collects what a folder is built from, and judges it, before anything is built.
type scan struct {
	tree     Tree
	files    map[string]*file // nil: no such file
	problems []problem.Problem
	bytes    int
	count    int
	nodes    int
	objects  int
	pulled   int // kustomizations within others, each time
}

func newScan(tree Tree) *scan { return &scan{tree: tree, files: map[string]*file{}} }

func (s *scan) reads() []string {
	paths := make([]string, 0, len(s.files))
	for p := range s.files {
		paths = append(paths, p)
	}
	return paths
}

func (s *scan) tell(path string, line int, field, message string) {
	s.problems = append(s.problems, problem.Problem{Path: path, Line: line, Field: field, Message: message})
}

// read reads a file once. It is nil without an error when there is no such file. What may not be read is told at its path and
// comes back empty.
func (s *scan) read(name string) (*file, error) {
	if f, seen := s.files[name]; seen {
		return f, nil
	}
	content, err := s.tree.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.files[name] = nil
		return nil, nil
	case Refused(err):
		s.tell(name, 0, "", reason(err))
		content = nil
	case err != nil:
		return nil, err
	}
	f := &file{path: name, content: s.within(name, content)}
	s.files[name] = f
	return f, nil
}

// within holds a file against the limits, and drops its content when it is beyond one.
func (s *scan) within(name string, content []byte) []byte {
	s.bytes += len(content)
	s.count++
	switch {
	case len(content) > maxFile:
		s.tell(name, 0, "", "larger than 1 MiB, which no file of an overlay may be")
	case s.bytes > maxTotal:
		s.tell(name, 0, "", "the overlay reads more than 8 MiB in all")
	case s.count > maxFiles:
		s.tell(name, 0, "", "the overlay reads more than "+strconv.Itoa(maxFiles)+" files")
	default:
		return content
	}
	return nil
}

// parse reads the documents of a YAML file, once.
func (s *scan) parse(f *file) {
	if f.docs != nil || len(f.content) == 0 {
		return
	}
	f.docs = []*yaml.Node{}
	decoder := yaml.NewDecoder(bytes.NewReader(f.content))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			line, message := syntaxError(err, bytes.Count(f.content, []byte("\n"))+1)
			s.tell(f.path, line, "", message)
			return
		}
		if !s.count1(f, &doc) {
			return
		}
		if root := doc.Content[0]; root.Kind != yaml.ScalarNode || root.ShortTag() != "!!null" {
			f.docs = append(f.docs, root)
		}
	}
}

// count1 holds a document against the limits.
func (s *scan) count1(f *file, doc *yaml.Node) bool {
	n, err := expandedSize(doc)
	if err != nil {
		s.tell(f.path, 0, "", err.Error())
		return false
	}
	if s.nodes += n; s.nodes > maxNodes {
		s.tell(f.path, 0, "", "the overlay's files have more than "+strconv.Itoa(maxNodes)+" YAML nodes in all")
		return false
	}
	if line, key := repeatedKey(doc); line > 0 {
		s.tell(f.path, line, "", "the key "+strconv.Quote(key)+" stands twice in the same map")
		return false
	}
	return true
}

// repeatedKey finds a key that stands twice in a map; decoders disagree about what that means.
func repeatedKey(node *yaml.Node) (line int, key string) {
	if node.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			k := node.Content[i]
			if k.Kind == yaml.ScalarNode && seen[k.Value] {
				return k.Line, k.Value
			}
			seen[k.Value] = true
		}
	}
	for _, child := range node.Content {
		if line, key := repeatedKey(child); line > 0 {
			return line, key
		}
	}
	return 0, ""
}

var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// syntaxError takes the YAML parser's error apart. The library counts the lines of what its scanner finds from 1, and those of what its parser
// finds, which it words so, from 0 (go.yaml.in/yaml/v3, decode.go, fail).
func syntaxError(err error, lines int) (line int, message string) {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		if strings.HasPrefix(m[2], "did not find expected") {
			line++
		}
		return min(line, lines), "no valid YAML: " + m[2]
	}
	return 0, "no valid YAML: " + strings.TrimPrefix(text, "yaml: ")
}

// RefusedError marks an error of a Tree as the file's own fault: a link, a submodule, a file beyond the limit.
type RefusedError struct{ Reason string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Refused tells whether an error of a Tree is the file's fault, so that reading again gives the same.
func Refused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) || errors.Is(err, fs.ErrInvalid)
}

func reason(err error) string {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return "is no file"
}

// inTree resolves a path against a folder and tells whether it stays in the tree.
func inTree(folder, relative string) (string, bool) {
	joined := path.Join(folder, relative)
	if path.IsAbs(relative) || joined == ".." || strings.HasPrefix(joined, "../") {
		return "", false
	}
	return joined, true
}
