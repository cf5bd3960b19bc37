package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Changed are the files that differ between two commits in content or mode, sorted; links and submodules count as files. An empty before is no commit, and
// then every file is new. Folders that are the same are not walked, so that the cost grows with the change; more than a file system could hold is ErrTooLarge.
func (r *Repository) Changed(before, after string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, err := r.rootOf(before)
	if err != nil {
		return nil, err
	}
	is, err := r.rootOf(after)
	if err != nil {
		return nil, err
	}
	d := &difference{r: r}
	if err := d.folder("", was, is); err != nil {
		return nil, fmt.Errorf("compare commits: %w", err)
	}
	slices.Sort(d.files)
	return d.files, nil
}

// rootOf is a commit's root folder; the empty one for no commit. The caller holds r.mu.
func (r *Repository) rootOf(sha string) (plumbing.Hash, error) {
	if sha == "" {
		return emptyTree, nil
	}
	h, err := parseHash(sha)
	if err != nil {
		return h, err
	}
	c, err := r.commit(h)
	if err != nil {
		return h, err
	}
	return plumbing.NewHash(c.Tree), nil
}

// The most that is compared, so that folders which hold themselves many times over, as Git's can, take no one's time.
const (
	maxCompared = 300_000 // entries
	maxPath     = 4096    // bytes
)

// difference gathers the files in which two folders differ.
type difference struct {
	r        *Repository
	files    []string
	compared int
}

// folder compares the entries of two folders, which are sorted by name.
func (d *difference) folder(at string, was, is plumbing.Hash) error {
	if was == is {
		return nil
	}
	old, err := d.r.entries(was)
	if err != nil {
		return err
	}
	now, err := d.r.entries(is)
	if d.compared += len(old) + len(now); d.compared > maxCompared {
		return fmt.Errorf("more than %d files and folders differ: %w", maxCompared, ErrTooLarge)
	}
	for err == nil && len(old)+len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].name < now[0].name:
			err = d.entry(at, old[0], entry{})
			old = old[1:]
		case len(old) == 0 || now[0].name < old[0].name:
			err = d.entry(at, entry{}, now[0])
			now = now[1:]
		default:
			if old[0] != now[0] {
				err = d.entry(at, old[0], now[0])
			}
			old, now = old[1:], now[1:]
		}
	}
	return err
}

// entry notes an entry that differs; the zero entry is none.
func (d *difference) entry(at string, was, is entry) error {
	name := path.Join(at, cmp.Or(was.name, is.name))
	if len(name) > maxPath {
		return fmt.Errorf("%.60s... is longer than %d characters: %w", name, maxPath, ErrTooLarge)
	}
	if isFile(was) || isFile(is) {
		d.files = append(d.files, name)
	}
	return d.folder(name, below(was), below(is))
}

func isFile(e entry) bool { return e.name != "" && !e.isFolder() }

// below is the folder that an entry is; the empty one where it is none.
func below(e entry) plumbing.Hash {
	if e.isFolder() {
		return e.hash
	}
	return emptyTree
}

// maxArguments bounds how many bytes of names one git gets; systems allow a multiple of it.
const maxArguments = 64 << 10

// Diff is the unified diff of files between two commits of a repository opened in place, as git shows it, with renames among them. An empty before is no
// commit. What is longer than most bytes is cut at a line's end, and whole is then false.
func (r *Repository) Diff(ctx context.Context, before, after string, files []string, most int) (text string, whole bool, err error) {
	if !r.bare {
		return "", false, errors.New("show a diff: the repository is not opened in place")
	}
	if before == "" {
		before = emptyTree.String()
	}
	for _, sha := range []string{before, after} {
		if _, err := parseHash(sha); err != nil {
			return "", false, err
		}
	}
	out := &limited{most: most}
	for chunk := range chunks(files) {
		if err := r.showDiff(ctx, out, before, after, chunk); err != nil {
			return "", false, err
		}
	}
	return out.text(), !out.over, nil
}

// chunks splits names so that each part fits on a command line.
func chunks(names []string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for start := 0; start < len(names); {
			end, size := start, 0
			for end < len(names) && (end == start || size+len(names[end]) < maxArguments) {
				size += len(names[end]) + 1
				end++
			}
			if !yield(names[start:end]) {
				return
			}
			start = end
		}
	}
}

// showDiff runs git on some of the files. What .gitattributes in the repository says of them does not count, or whoever may write one could hide what they
// changed.
func (r *Repository) showDiff(ctx context.Context, out *limited, before, after string, files []string) error {
	args := append([]string{"--git-dir=" + r.opts.URL, "--literal-pathspecs", "-c", "core.quotePath=false", "-c", "attr.tree=" + emptyTree.String(), "diff", "--no-color", "--no-ext-diff", "--no-textconv",
		"--find-renames", before, after, "--"}, files...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("show the diff of %.12s: %w: %s", after, cmp.Or(ctx.Err(), err), strings.TrimSpace(said.String()))
	}
	return nil
}

// limited keeps the first bytes of what is written, and lets the writer go on.
type limited struct {
	kept []byte
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := max(0, l.most-len(l.kept))
	l.over = l.over || len(p) > room
	l.kept = append(l.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

// text is what was kept; cut off, it ends with its last whole line.
func (l *limited) text() string {
	content := l.kept
	if l.over {
		content = content[:bytes.LastIndexByte(content, '\n')+1]
	}
	return strings.ToValidUTF8(string(content), "\uFFFD")
}
