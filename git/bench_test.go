package git_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// The figures of a repository of 10,000 overlays: go test ./git -run - -bench . -benchtime 1x
func BenchmarkTenThousandOverlays(b *testing.B) {
	dir := b.TempDir()
	if _, err := smarthttp.Init(dir, "fleet.git", smarthttp.Rules{}); err != nil {
		b.Fatal(err)
	}
	o := git.Options{URL: filepath.Join(dir, "fleet.git")}
	w, err := git.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	files := map[string][]byte{"clusters/fleet.yaml": []byte("fleet")}
	for i := range 10_000 {
		folder := fmt.Sprintf("clusters/team-%d/cluster-%d/", i/100, i)
		files[folder+"claim.yaml"] = fmt.Appendf(nil, "kind: ClusterClaim\nmetadata:\n  name: cluster-%d\nspec:\n  endpoint: 10.0.%d.%d\n", i, i/250, i%250)
		files[folder+"kustomization.yaml"] = fmt.Appendf(nil, "namespace: team-%d\nresources: [claim.yaml]\n", i/100)
	}
	commit := func(files map[string][]byte) string {
		sha, err := w.CommitFiles(b.Context(), git.Change{Files: files, Message: "Change", Author: alice})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Push(b.Context(), sha); err != nil {
			b.Fatal(err)
		}
		return sha
	}
	step := func(name string, do func()) {
		start := time.Now()
		do()
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, name+"-ms")
	}
	for b.Loop() {
		o.Dir = filepath.Join(b.TempDir(), "clone")
		r, err := git.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		var tip string
		fetch := func() {
			if tip, err = r.Fetch(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		readAll := func(each func(*git.Tree, string)) func() {
			return func() {
				tree, err := r.Tree(tip)
				if err != nil {
					b.Fatal(err)
				}
				walk(b, tree, "clusters", each)
			}
		}
		step("write-and-push-all", func() { commit(files) })
		step("clone", fetch)
		step("digest-each-folder", readAll(func(*git.Tree, string) {}))
		step("read-each-file", readAll(func(tree *git.Tree, path string) {
			if _, err := tree.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}))
		step("push-one", func() { commit(map[string][]byte{"clusters/team-5/cluster-500/claim.yaml": []byte("changed")}) })
		step("fetch-one", fetch)
		step("digest-each-folder-again", readAll(func(*git.Tree, string) {}))
		step("fetch-nothing", fetch)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
		runtime.KeepAlive(r)
		commit(map[string][]byte{"clusters": nil})
	}
}

// walk asks for each folder's digest and hands on each file.
func walk(b *testing.B, tree *git.Tree, dir string, each func(*git.Tree, string)) {
	if _, err := tree.Digest(dir); err != nil {
		b.Fatal(err)
	}
	entries, err := tree.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		path := dir + "/" + e.Name()
		if e.IsDir() {
			walk(b, tree, path, each)
			continue
		}
		each(tree, path)
	}
}
