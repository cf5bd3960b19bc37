package render_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/spf13/cobra"

	"kubehenge.dev/render"
)

// onDisk writes the example repository into a folder.
func onDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range repository(t) {
		write(t, dir, name, string(content))
	}
	return dir
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace changes a file on disk.
func replace(t *testing.T, dir, name, old, new string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !strings.Contains(string(content), old) {
		t.Fatalf("%s does not hold %q (%v)", name, old, err)
	}
	write(t, dir, name, strings.Replace(string(content), old, new, 1))
}

func run(cmd *cobra.Command, args ...string) (stdout, stderr string, err error) {
	var out, told bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&told)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(context.Background())
	return out.String(), told.String(), err
}

func TestRenderPrintsObjects(t *testing.T) {
	dir := onDisk(t)
	out, _, err := run(render.Command(), "-C", dir)
	if err != nil || strings.Count(out, "---\n") != 3 || !strings.Contains(out, "kind: Cluster\n") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = run(render.Command(), "-C", dir, "-o", "json", "--classes", filepath.Join(dir, "clusters/examples"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for line := range strings.Lines(out) {
		var o struct{ Kind string }
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		kinds[o.Kind]++
	}
	if kinds["Cluster"] != 1 || kinds["ClusterClass"] != 1 || kinds["ProxmoxMachineTemplate"] != 2 {
		t.Errorf("got %v", kinds)
	}
}

func TestRenderTellsProblemsAndPrintsTheRest(t *testing.T) {
	dir := onDisk(t)
	write(t, dir, "clusters/bad/kustomization.yaml", "resources: [nothing.yaml]\n")
	out, told, err := run(render.Command(), "-C", dir)
	want := "clusters/bad/kustomization.yaml:1: resources[0]: no file or folder \"nothing.yaml\"\n"
	if err == nil || told != want || !strings.Contains(out, "kind: Cluster\n") {
		t.Errorf("%v\n%s", err, told)
	}
	if _, told, err = run(render.Command(), "-C", dir, filepath.Join(dir, "clusters/examples/hello")); err != nil || told != "" {
		t.Errorf("the problem of another overlay: %v %s", err, told)
	}
}

func TestRenderRefusesPathsWithoutOverlays(t *testing.T) {
	dir := onDisk(t)
	for _, args := range [][]string{{filepath.Join(dir, "clusters/none")}, {t.TempDir()}, {"-o", "xml"}} {
		if _, _, err := run(render.Command(), append([]string{"-C", dir}, args...)...); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}

func TestTheRepositoryIsFoundUpwards(t *testing.T) {
	dir := onDisk(t)
	t.Chdir(filepath.Join(dir, "clusters/examples"))
	if out, told, err := run(render.Command(), "hello"); err != nil || !strings.Contains(out, "kind: Cluster\n") {
		t.Errorf("%v %s", err, told)
	}
	t.Chdir(t.TempDir())
	if _, _, err := run(render.Command()); err == nil || !strings.Contains(err.Error(), "kubehenge init") {
		t.Errorf("no hint: %v", err)
	}
}

func TestCheckTellsOneLineAProblem(t *testing.T) {
	dir := onDisk(t)
	if out, _, err := run(render.CheckCommand(), "-C", dir); err != nil || out != "1 overlays, no problems\n" {
		t.Errorf("%v %s", err, out)
	}
	replace(t, dir, claimFile, "version", "vresion")
	out, _, err := run(render.CheckCommand(), "-C", dir)
	if want := claimFile + ":7: spec.vresion: unknown field; did you mean version?\n"; err == nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = run(render.CheckCommand(), "-C", dir, "-o", "json")
	if first, _, _ := strings.Cut(out, "\n"); err == nil || first != `{"path":"`+claimFile+`","line":7,"field":"spec.vresion","message":"unknown field; did you mean version?"}` {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheckAgainstABase(t *testing.T) {
	for name, below := range map[string]string{"the repository is the checkout": "", "the repository is a folder of the checkout": "fleet"} {
		t.Run(name, func(t *testing.T) {
			checkout := t.TempDir()
			dir := filepath.Join(checkout, below)
			for name, content := range repository(t) {
				write(t, dir, name, string(content))
			}
			commitAll(t, checkout)
			replace(t, dir, claimFile, "v1.36.3", "v1.36.2")
			replace(t, dir, claimFile, "10.0.40.10", "10.0.40.11")
			out, _, err := run(render.CheckCommand(), "-C", dir, "--base", "HEAD")
			want := claimFile + ":7: spec.version: cannot be lowered from v1.36.3 to v1.36.2\n" +
				claimFile + ":9: spec.endpoint: stays after creation: it is 10.0.40.10 and cannot become 10.0.40.11\n"
			if err == nil || out != want {
				t.Errorf("%v\n%s", err, out)
			}
			if _, _, err := run(render.CheckCommand(), "-C", dir, "--base", "nowhere"); err == nil {
				t.Error("an unknown revision was taken")
			}
		})
	}
	if _, _, err := run(render.CheckCommand(), "-C", onDisk(t), "--base", "HEAD"); err == nil {
		t.Error("a folder without Git was taken")
	}
}

func commitAll(t *testing.T, dir string) {
	t.Helper()
	repository, err := gogit.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	work, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := work.AddGlob("."); err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(0, 0)}
	if _, err := work.Commit("begin", &gogit.CommitOptions{Author: who}); err != nil {
		t.Fatal(err)
	}
}
