package render

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"kubehenge.dev/git"
)

// CheckCommand is `kubehenge check`.
func CheckCommand() *cobra.Command {
	var options checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the repository, and what a change does to clusters that run",
		Long: `Check renders every overlay and tells each problem on one line, with file and line. It needs nothing but the files.
With --base it also judges the change since a commit: what stays after creation, versions, claims that vanish, and addresses that are taken from
under clusters. It ends with code 1 when there is a problem. What only the running clusters can tell, the agent checks again.`,
		Example: `  kubehenge check
  kubehenge check --base origin/main          # before a pull request is merged
  kubehenge check -C ~/fleet -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return options.run(cmd) },
	}
	cmd.Flags().StringVarP(&options.repository, "repository", "C", "", "the repository's folder (default: the nearest folder upwards that holds clusters/)")
	cmd.Flags().StringVar(&options.base, "base", "", "a Git revision to judge the change against, such as origin/main or HEAD~1")
	cmd.Flags().StringVarP(&options.output, "output", "o", "text", "text or json")
	return cmd
}

type checkOptions struct {
	repository string
	base       string
	output     string
}

func (o *checkOptions) run(cmd *cobra.Command) error {
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("output %q is neither text nor json", o.output)
	}
	root, err := findRepository(o.repository)
	if err != nil {
		return err
	}
	tree, err := Dir(root)
	if err != nil {
		return err
	}
	rendering, problems, err := checkTree(cmd.Context(), tree, root, o.base)
	if err != nil {
		return err
	}
	if o.output == "json" {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		for _, p := range problems {
			if err := encoder.Encode(p); err != nil {
				return fmt.Errorf("print: %w", err)
			}
		}
		return tellProblems(io.Discard, problems)
	}
	if err := tellProblems(cmd.OutOrStdout(), problems); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d overlays, no problems\n", len(rendering.Overlays))
	return nil
}

// checkTree renders the tree, and judges it against the base where one is given.
func checkTree(ctx context.Context, tree Tree, root, base string) (*Rendering, []Problem, error) {
	renderer := New()
	var before *Rendering
	if base != "" {
		old, err := baseTree(root, base)
		if err != nil {
			return nil, nil, err
		}
		if before, err = New().Render(ctx, old); err != nil {
			return nil, nil, fmt.Errorf("render %s: %w", base, err)
		}
	}
	after, err := renderer.Render(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	problems := after.Problems()
	if before != nil {
		problems = append(problems, CheckChange(before, after)...)
	}
	return after, problems, nil
}

// baseTree is the repository's folder as it was at a commit.
func baseTree(root, revision string) (Tree, error) {
	repository, err := git.OpenLocal(root)
	if err != nil {
		return nil, err
	}
	sha, err := repository.Resolve(revision)
	if err != nil {
		return nil, err
	}
	tree, err := repository.Tree(sha)
	if err != nil {
		return nil, err
	}
	prefix, err := withinCheckout(root)
	if err != nil || prefix == "." {
		return tree, err
	}
	return subtree{tree, prefix}, nil
}

// withinCheckout is the folder's path in the checkout that it belongs to.
func withinCheckout(root string) (string, error) {
	for at := root; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			relative, err := filepath.Rel(at, root)
			return filepath.ToSlash(relative), err
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no Git checkout", root)
		}
	}
}

// subtree is a folder of a tree as a tree.
type subtree struct {
	tree   Tree
	prefix string
}

func (b subtree) ReadFile(name string) ([]byte, error) {
	return b.tree.ReadFile(path.Join(b.prefix, name))
}

func (b subtree) ReadDir(name string) ([]fs.DirEntry, error) {
	return b.tree.ReadDir(path.Join(b.prefix, name))
}

func (b subtree) Digest(name string) (string, error) { return b.tree.Digest(path.Join(b.prefix, name)) }
