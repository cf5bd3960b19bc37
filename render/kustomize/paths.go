package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"kubehenge.dev/render/problem"
)

// localPath is what an entry may look like. The kustomize library takes more for a URL or a Git repository than one would think,
// "github.com/..." among them, and runs git or fetches it.
var localPath = regexp.MustCompile(`^(\.{1,2}|[A-Za-z0-9_][A-Za-z0-9_+=.-]*|\.[A-Za-z0-9_][A-Za-z0-9_+=.-]*)(/(\.{1,2}|\.?[A-Za-z0-9_][A-Za-z0-9_+=.-]*))*/?$`)

// local refuses what is not a plain path to something in the tree.
func (s *scan) local(t *target, field, entry string) (string, bool) {
	lower := strings.ToLower(entry)
	if !localPath.MatchString(entry) || strings.HasPrefix(lower, "github.com") || strings.Contains(lower, ".git/") || strings.HasSuffix(lower, ".git") ||
		strings.Contains(lower, "_git/") || strings.Contains(strings.NewReplacer("../", "", "/..", "").Replace(entry), "..") && entry != ".." {
		s.tellField(t, field, fmt.Sprintf("%q is no path to a file or folder of this repository; nothing else is read", entry))
		return "", false
	}
	name, ok := inTree(t.folder, entry)
	if !ok {
		s.tellField(t, field, fmt.Sprintf("%q leads out of the repository", entry))
	}
	return name, ok
}

// entry finds what an entry of resources or components names: a file, or a folder.
func (s *scan) entry(t *target, field, entry string) (f *file, folder string, err error) {
	name, ok := s.local(t, field, entry)
	if !ok {
		return nil, "", nil
	}
	if path.Ext(name) == "" || name == "." || strings.HasSuffix(name, "..") {
		isFolder, err := s.isFolder(name)
		if link := (*RefusedError)(nil); errors.As(err, &link) {
			s.tellField(t, field, link.Reason)
			return nil, "", nil
		}
		if err != nil || isFolder {
			return nil, name, err
		}
	}
	if f, err = s.own(t, field, entry); err != nil || f != nil {
		return f, "", err
	}
	return nil, "", nil
}

// isFolder tells whether there is a folder. A link on the way is a *RefusedError.
func (s *scan) isFolder(name string) (bool, error) {
	_, err := s.tree.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return false, nil
	}
	return err == nil, err
}

// own reads a file that must lie in the kustomization's own folder, as kustomize demands.
func (s *scan) own(t *target, field, entry string) (*file, error) {
	name, ok := s.local(t, field, entry)
	if !ok {
		return nil, nil
	}
	if t.folder != "." && !strings.HasPrefix(name, t.folder+"/") {
		s.tellField(t, field, fmt.Sprintf("%q lies outside the folder of this kustomization; name a folder with a kustomization.yaml instead", entry))
		return nil, nil
	}
	f, err := s.read(name)
	if f == nil && err == nil {
		s.tellField(t, field, fmt.Sprintf("no file or folder %q%s", entry, s.near(name)))
	}
	return f, err
}

// near names the entry of the folder that is most like a missing one.
func (s *scan) near(name string) string {
	entries, err := s.tree.ReadDir(path.Dir(name))
	if err != nil {
		return ""
	}
	s.files[path.Dir(name)] = nil // the hint depends on the listing
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(strings.ToLower(e.Name()), "kustomization") {
			names = append(names, e.Name())
		}
	}
	if n := problem.Nearest(path.Base(name), names); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}
