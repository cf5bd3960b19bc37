package build

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kubehenge.dev/lab/progress"
)

// checkout makes a checkout with one program and returns a builder for it with its progress lines.
func checkout(t *testing.T) (*builder, *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "go.mod"), "module kubehenge.dev\n\ngo 1.26.0\n")
	put(t, filepath.Join(root, "tool/go.mod"), "module example.com/tool\n\ngo 1.26.0\n")
	put(t, filepath.Join(root, "tool/main.go"), "package main\n\nfunc main() { println(\"one\") }\n")
	out := &bytes.Buffer{}
	b, err := newBuilder(t.Context(), root, Options{Cache: t.TempDir(), Progress: progress.New(out)})
	if err != nil {
		t.Fatal(err)
	}
	b.binaries, b.providers = []Binary{{Name: "tool", Module: "tool", Package: "."}}, nil
	return b, out
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ensure(t *testing.T, b *builder) string {
	t.Helper()
	result, err := b.ensure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(result.Binaries["tool"]).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestASecondStartBuildsNothingAndAChangeIsBuilt(t *testing.T) {
	b, out := checkout(t)
	if got := ensure(t, b); got != "one" {
		t.Errorf("the first build says %q", got)
	}
	if !strings.Contains(out.String(), "built tool") {
		t.Errorf("progress of the first build: %q", out)
	}
	out.Reset()
	put(t, filepath.Join(b.root, "tool/main_test.go"), "package main\n")
	if got := ensure(t, b); got != "one" || out.Len() > 0 {
		t.Errorf("with nothing changed but a test: %q, progress %q", got, out)
	}
	put(t, filepath.Join(b.root, "tool/main.go"), "package main\n\nfunc main() { println(\"two\") }\n")
	if got := ensure(t, b); got != "two" {
		t.Errorf("after a change: %q", got)
	}
}

func TestOnlyTheNewestResultsAreKept(t *testing.T) {
	b, _ := checkout(t)
	for _, text := range []string{"a", "b", "c", "d", "e"} {
		put(t, filepath.Join(b.root, "tool/main.go"), "package main\n\nfunc main() { println(\""+text+"\") }\n")
		if got := ensure(t, b); got != text {
			t.Fatalf("built %q, want %q", got, text)
		}
	}
	entries, err := os.ReadDir(filepath.Join(b.options.Cache, "tool"))
	if err != nil || len(entries) != keep {
		t.Errorf("%d results are kept, want %d (%v)", len(entries), keep, err)
	}
}

func TestABuildThatFailsShowsTheCompilersWordsAndLeavesNothing(t *testing.T) {
	b, _ := checkout(t)
	put(t, filepath.Join(b.root, "tool/main.go"), "package main\n\nfunc main() { nonsense() }\n")
	_, err := b.ensure(t.Context())
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("error %v, want the compiler's", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.options.Cache, "tool", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestACheckoutIsFoundFromInsideOnly(t *testing.T) {
	b, _ := checkout(t)
	if got, err := Checkout(filepath.Join(b.root, "tool")); err != nil || got != b.root {
		t.Errorf("from inside: %q, %v; want %q", got, err, b.root)
	}
	if got, err := Checkout(t.TempDir()); err == nil {
		t.Errorf("from outside: %q, want an error", got)
	}
}

func TestWithoutGoTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := newStamper(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "--bin-dir") {
		t.Errorf("error %v, want one that names --bin-dir", err)
	}
}

func TestAReplacedModulesSourcesAreInTheStamp(t *testing.T) {
	b, _ := checkout(t)
	put(t, filepath.Join(b.root, "tool/go.mod"), "module example.com/tool\n\ngo 1.26.0\n\nreplace kubehenge.dev => ../\n")
	before, err := b.stamper.binary(b.binaries[0])
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(b.root, "more.go"), "package kubehenge\n")
	after, err := b.stamper.binary(b.binaries[0])
	if err != nil || before == after {
		t.Errorf("stamp %s stays after a change in the replacing module (%v)", after, err)
	}
}

// The versions that programs report are those their modules are pinned to.
func TestReportedVersionsAreThePinnedOnes(t *testing.T) {
	for module, want := range map[string]string{
		controlPlaneModule: "k8s.io/kubernetes " + KubernetesVersion,
		capiModule:         "sigs.k8s.io/cluster-api " + CAPIVersion,
	} {
		data, err := os.ReadFile(filepath.Join("../..", module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "\t"+want) {
			t.Errorf("%s does not pin %s", module, want)
		}
	}
}
