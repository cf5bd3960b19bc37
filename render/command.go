package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Command is `kubehenge render`.
func Command() *cobra.Command {
	var options renderOptions
	cmd := &cobra.Command{
		Use:   "render [PATH...]",
		Short: "Print the objects that overlays render to",
		Long: `Render prints the objects that the overlays at or below the given paths render to; without a path, all of the repository.
It needs nothing but the files: no network, no cluster, no Proxmox VE. Problems go to standard error, one a line, and make it end with code 1;
overlays without problems are printed all the same.`,
		Example: `  kubehenge render                            # everything
  kubehenge render clusters/team-a/shop       # one cluster
  kubehenge render -o json . | jq .kind       # below the current folder
  kubehenge render --classes | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, args []string) error { return options.run(cmd, args) },
	}
	cmd.Flags().StringVarP(&options.repository, "repository", "C", "", "the repository's folder (default: the nearest folder upwards that holds clusters/)")
	cmd.Flags().StringVarP(&options.output, "output", "o", "yaml", "yaml or json")
	cmd.Flags().BoolVar(&options.classes, "classes", false, "print the classes that the overlays use, before them")
	return cmd
}

type renderOptions struct {
	repository string
	output     string
	classes    bool
}

func (o *renderOptions) run(cmd *cobra.Command, args []string) error {
	print, err := printer(o.output)
	if err != nil {
		return err
	}
	rendering, paths, err := renderPaths(cmd.Context(), o.repository, args)
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	problems := slices.Clone(rendering.FleetProblems)
	for _, overlay := range rendering.Overlays {
		if below(overlay.Path, paths) {
			objects = append(objects, overlay.Objects...)
			problems = append(problems, overlay.Problems...)
		}
	}
	if o.classes {
		objects = append(classObjects(rendering), objects...)
	}
	if err := print(cmd.OutOrStdout(), objects); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return tellProblems(cmd.ErrOrStderr(), problems)
}

func classObjects(r *Rendering) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, name := range sortedNames(r.Classes) {
		objects = append(objects, r.Classes[name].Objects...)
	}
	return objects
}

// tellProblems prints problems, one a line, and gives the error that makes the command end with code 1.
func tellProblems(to io.Writer, problems []Problem) error {
	for _, p := range problems {
		fmt.Fprintln(to, p)
	}
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return errors.New("one problem")
	}
	return fmt.Errorf("%d problems", len(problems))
}

// renderPaths renders the repository and resolves paths on disk to paths in it.
func renderPaths(ctx context.Context, repository string, args []string) (*Rendering, []string, error) {
	root, err := findRepository(repository)
	if err != nil {
		return nil, nil, err
	}
	tree, err := Dir(root)
	if err != nil {
		return nil, nil, err
	}
	rendering, err := New().Render(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for _, arg := range args {
		name, err := pathIn(root, arg)
		if err != nil {
			return nil, nil, err
		}
		if !slices.ContainsFunc(rendering.Overlays, func(o *Overlay) bool { return below(o.Path, []string{name}) }) {
			return nil, nil, fmt.Errorf("no overlay at or below %s", arg)
		}
		paths = append(paths, name)
	}
	return rendering, paths, nil
}

// below tells whether a path is one of the others or below one; all are when there are none.
func below(path string, others []string) bool {
	return len(others) == 0 || slices.ContainsFunc(others, func(other string) bool {
		return path == other || other == "." || strings.HasPrefix(path, other+"/")
	})
}

// findRepository is the folder given, or the nearest one upwards from here that holds clusters/.
func findRepository(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	at, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if info, err := os.Stat(filepath.Join(at, ClustersFolder)); err == nil && info.IsDir() {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", errors.New("no folder here or above holds clusters/; say where the repository is with -C, or make one with kubehenge init")
		}
		at = up
	}
}

func pathIn(root, arg string) (string, error) {
	full, err := filepath.Abs(arg)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", arg, err)
	}
	relative, err := filepath.Rel(root, full)
	if err != nil || relative == ".." || strings.HasPrefix(relative, "../") {
		return "", fmt.Errorf("%s is not in the repository %s", arg, root)
	}
	return filepath.ToSlash(relative), nil
}

func printer(format string) (func(io.Writer, []*unstructured.Unstructured) error, error) {
	switch format {
	case "yaml":
		return printYAML, nil
	case "json":
		return printJSON, nil
	}
	return nil, fmt.Errorf("output %q is neither yaml nor json", format)
}

func printYAML(to io.Writer, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(to, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// printJSON prints an object a line, which kubectl and jq both take.
func printJSON(to io.Writer, objects []*unstructured.Unstructured) error {
	encoder := json.NewEncoder(to)
	for _, o := range objects {
		if err := encoder.Encode(o.Object); err != nil {
			return err
		}
	}
	return nil
}
