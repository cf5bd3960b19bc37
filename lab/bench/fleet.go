package bench

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"kubehenge.dev/bootstrap"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// author is who the generated commits are by.
var author = git.Person{Name: "Kubehenge bench", Email: "bench@kubehenge.test"}

// fleet is a repository of generated overlays on disk: one clone that writes, and one on disk that is measured, as the
// agent has it.
type fleet struct {
	overlays int
	files    map[string][]byte
	options  git.Options
	writer   *git.Repository
	clone    *git.Repository
	tip      string
}

func newFleet(ctx context.Context, dir string, overlays int) (*fleet, error) {
	files, err := bootstrap.RepositoryFiles(bootstrap.Options{Fleet: []byte(sample.Fleet)})
	if err != nil {
		return nil, err
	}
	maps.Copy(files, sample.Overlays(overlays))
	url, err := smarthttp.Init(dir, "fleet.git", smarthttp.Rules{})
	if err != nil {
		return nil, err
	}
	f := &fleet{overlays: overlays, files: files, options: git.Options{URL: url, Dir: filepath.Join(dir, "clone")}}
	if f.writer, err = git.Open(ctx, git.Options{URL: url}); err != nil {
		return nil, err
	}
	return f, f.push(ctx, files)
}

// push commits files and has the measured clone fetch them.
func (f *fleet) push(ctx context.Context, files map[string][]byte) error {
	sha, err := f.writer.CommitFiles(ctx, git.Change{Files: files, Message: "Change", Author: author})
	if err != nil {
		return err
	}
	if err := f.writer.Push(ctx, sha); err != nil {
		return err
	}
	if f.clone == nil {
		if err := f.reopen(ctx); err != nil {
			return err
		}
	}
	f.tip, err = f.clone.Fetch(ctx)
	return err
}

// reopen opens the clone anew, so that it remembers nothing.
func (f *fleet) reopen(ctx context.Context) (err error) {
	f.close()
	f.clone, err = git.Open(ctx, f.options)
	return err
}

func (f *fleet) close() {
	if f.clone != nil {
		f.clone.Close()
	}
}

// render renders the tip and wants no problem in it: one would make the rendering cheaper.
func (f *fleet) render(ctx context.Context, renderer *render.Renderer) error {
	tree, err := f.clone.Tree(f.tip)
	if err != nil {
		return err
	}
	rendering, err := renderer.Render(ctx, tree)
	if err != nil {
		return err
	}
	if problems := rendering.Problems(); len(problems) > 0 {
		return fmt.Errorf("the generated fleet has %d problems, the first: %v", len(problems), problems[0])
	}
	if n := len(rendering.Overlays); n != f.overlays {
		return fmt.Errorf("%d overlays were rendered, not %d", n, f.overlays)
	}
	return nil
}

// overlay are the files below the i-th overlay's folder.
func (f *fleet) overlay(i int) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range []string{"kustomization.yaml", "claim.yaml"} {
		path := sample.Folder(i) + "/" + name
		out[path] = f.files[path]
	}
	return out
}

// spread visits so many numbers below n in an order without neighbours; each once as long as count is at most n.
func spread(n, count int, visit func(k, at int) error) error {
	for k := range count {
		if err := visit(k, k*7919%n); err != nil { // a prime that divides no round number
			return err
		}
	}
	return nil
}

// thousands writes 10000 as 10,000.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = strings.Join([]string{s[:at], s[at:]}, ",")
	}
	return s
}
