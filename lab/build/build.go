package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/lab/progress"
)

// Options say what is built and where to.
type Options struct {
	// Cache is the folder that results are kept in. Default: CacheDir().
	Cache string
	// Prebuilt is a folder of binaries and manifests that are used as they are; nothing is built.
	Prebuilt string
	// Without names binaries that are not needed.
	Without []string
	// Progress gets a line for each step that takes time.
	Progress *progress.Log
}

// Result says where everything is.
type Result struct {
	// Binaries are the paths of binaries by name, Manifests those of providers' manifests by the provider's name.
	Binaries, Manifests map[string]string
}

// keep is how many results of each name stay in the cache, the newest first.
const keep = 3

// Ensure returns all binaries and manifests, and makes those that are not there. Only one process builds at a time.
func Ensure(ctx context.Context, options Options) (Result, error) {
	if options.Prebuilt != "" {
		return prebuilt(options.Prebuilt, options.Without)
	}
	working, err := os.Getwd()
	if err != nil {
		return Result{}, err
	}
	root, err := Checkout(working)
	if err != nil {
		return Result{}, err
	}
	b, err := newBuilder(ctx, root, options)
	if err != nil {
		return Result{}, err
	}
	return b.ensure(ctx)
}

func (b *builder) ensure(ctx context.Context) (Result, error) {
	result, missing, err := b.plan()
	if err != nil || len(missing) == 0 {
		return result, err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	for _, job := range missing {
		if err := b.run(ctx, job); err != nil {
			return Result{}, err
		}
	}
	return result, nil
}

type builder struct {
	options   Options
	root      string
	stamper   *stamper
	binaries  []Binary
	providers []Provider
}

// job makes one file.
type job struct {
	name, hint string
	path       string
	make       func(ctx context.Context, path string) error
}

func newBuilder(ctx context.Context, root string, options Options) (*builder, error) {
	var err error
	if options.Cache == "" {
		if options.Cache, err = CacheDir(); err != nil {
			return nil, err
		}
	}
	stamper, err := newStamper(ctx, root)
	if err != nil {
		return nil, err
	}
	return &builder{options: options, root: root, stamper: stamper, binaries: binaries, providers: providers}, nil
}

// plan says where everything is to be, and what of it is missing. Binaries come first, since building them brings
// the modules that the manifests are in.
func (b *builder) plan() (Result, []job, error) {
	result := Result{Binaries: map[string]string{}, Manifests: map[string]string{}}
	var missing []job
	add := func(paths map[string]string, name, stamp string, j job) {
		j.name, j.path = name, filepath.Join(b.options.Cache, name, stamp)
		paths[name] = j.path
		if _, err := os.Stat(j.path); err != nil {
			missing = append(missing, j)
		}
	}
	for _, binary := range b.binaries {
		if slices.Contains(b.options.Without, binary.Name) {
			continue
		}
		stamp, err := b.stamper.binary(binary)
		if err != nil {
			return Result{}, nil, err
		}
		add(result.Binaries, binary.Name, stamp, job{hint: binary.Hint, make: b.compile(binary)})
	}
	for _, provider := range b.providers {
		stamp, err := b.stamper.manifests(provider)
		if err != nil {
			return Result{}, nil, err
		}
		add(result.Manifests, provider.Name, stamp+".yaml", job{hint: "its manifests", make: b.render(provider)})
	}
	return result, missing, nil
}

// run makes a job's file, unless another process did so while this one waited.
func (b *builder) run(ctx context.Context, j job) error {
	if _, err := os.Stat(j.path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	started := time.Now()
	b.options.Progress.Printf("building %s (%s) ...", j.name, j.hint)
	// A file under its own name is always whole.
	unfinished := j.path + ".unfinished"
	if err := j.make(ctx, unfinished); err != nil {
		return fmt.Errorf("build %s: %w", j.name, err)
	}
	if err := os.Rename(unfinished, j.path); err != nil {
		return fmt.Errorf("build %s: %w", j.name, err)
	}
	b.options.Progress.Printf("built %s in %.0f s", j.name, time.Since(started).Seconds())
	return prune(filepath.Dir(j.path), filepath.Ext(j.path))
}

// compile makes a binary.
func (b *builder) compile(binary Binary) func(context.Context, string) error {
	return func(ctx context.Context, path string) error {
		args := slices.Concat([]string{"build"}, binary.Flags, []string{"-ldflags", binary.LDFlags, "-o", path, binary.Package})
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = filepath.Join(b.root, binary.Module)
		cmd.Env = append(os.Environ(), binary.Env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("go build %s in %s: %w\n%s", binary.Package, binary.Module, err, lastLines(string(out), 20))
		}
		return nil
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// prune removes all but the newest results in a folder. A lab that still runs has links of its own.
func prune(dir, extension string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("prune the cache: %w", err)
	}
	type aged struct {
		path string
		when time.Time
	}
	var all []aged
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && filepath.Ext(entry.Name()) == extension {
			all = append(all, aged{filepath.Join(dir, entry.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return b.when.Compare(a.when) })
	for _, old := range all[min(keep, len(all)):] {
		if err := os.Remove(old.path); err != nil {
			return fmt.Errorf("prune the cache: %w", err)
		}
	}
	return nil
}
