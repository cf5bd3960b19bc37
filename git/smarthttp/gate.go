package smarthttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// Incoming is a push that git has received, checked for damage and put aside; nothing of it is in the repository yet.
type Incoming struct {
	// Repository is its name, as fleet.git, and Dir its folder.
	Repository, Dir string
	// Quarantine is the folder of the objects that came. https://git-scm.com/docs/git-receive-pack#_quarantine_environment
	Quarantine string
	// Identity is who pushes.
	Identity string
	// Updates are the references that the push wants to move.
	Updates []Update
	// Tell shows a line at the pusher's terminal, at once.
	Tell func(line string)
}

// hook is git's pre-receive hook. It asks the server that started git, over two named pipes, so that the check runs where privileges and renderings
// are remembered. Without an answer the push is refused.
const hook = `#!/bin/sh
{ printf '%s\n' "$GIT_QUARANTINE_PATH"; cat; echo .; } >"$KUBEHENGE_PUSH/ask" || exit 1
while IFS= read -r line; do
	case $line in
	ok) exit 0 ;;
	no) exit 1 ;;
	*) printf '%s\n' "${line#say }" ;;
	esac
done <"$KUBEHENGE_PUSH/answer"
exit 1
`

// installHook writes the hook beside the repositories, under a name that none of them can have.
func installHook(dir string) (hooks string, err error) {
	hooks = filepath.Join(dir, ".hooks")
	if err := os.MkdirAll(hooks, 0o700); err != nil {
		return "", fmt.Errorf("install the check of pushes: %w", err)
	}
	file := filepath.Join(hooks, "pre-receive")
	if err := os.WriteFile(file, []byte(hook), 0o700); err != nil {
		return "", fmt.Errorf("install the check of pushes: %w", err)
	}
	return hooks, runs(file)
}

// runs sees whether the hook can be run at all, since git takes every push where it cannot. With nobody to ask it refuses.
func runs(file string) error {
	cmd := exec.Command(file)
	cmd.Env = []string{"KUBEHENGE_PUSH=" + os.DevNull}
	if exited := new(exec.ExitError); !errors.As(cmd.Run(), &exited) || exited.ExitCode() != 1 {
		return fmt.Errorf("the check of pushes, %s, cannot be run; its folder must be on a file system that programs may be run from (no noexec)", file)
	}
	return nil
}

// maxCommands bounds how many references one push may move.
const maxCommands = 1000

// gate is the check of one push.
type gate struct {
	dir         string
	ask, answer *os.File
	done        sync.WaitGroup
	allowed     []Update // what git may move; for close
}

// openGate waits for the hook of one push to ask. The caller closes the gate when git has ended.
func (h *Handler) openGate(ctx context.Context, in Incoming) (*gate, error) {
	dir, err := os.MkdirTemp("", "kubehenge-gate-*")
	if err != nil {
		return nil, err
	}
	g := &gate{dir: dir}
	if g.ask, err = pipe(dir, "ask"); err == nil {
		g.answer, err = pipe(dir, "answer")
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(h.hooks, "pre-receive")) // git would take the push without it
	}
	if err != nil {
		g.close()
		return nil, err
	}
	g.done.Go(func() { g.judge(ctx, in, h.opts.BeforePush) })
	return g, nil
}

// pipe makes a named pipe and opens both of its ends, so that neither side waits for the other to open it.
func pipe(dir, name string) (*os.File, error) {
	path := filepath.Join(dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make a pipe for the check of a push: %w", err)
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// close gives what git was allowed to move; whether it did is for the references to say.
func (g *gate) close() []Update {
	for _, f := range []*os.File{g.ask, g.answer} {
		if f != nil {
			_ = f.Close() // ends a read that nobody will answer
		}
	}
	g.done.Wait()
	_ = os.RemoveAll(g.dir) // a leftover in the temporary folder is no reason to fail a push
	return g.allowed
}

// judge reads what the hook asks, has it judged and answers. A hook that never asks, since git refused the push before, ends with close.
func (g *gate) judge(ctx context.Context, in Incoming, check func(context.Context, Incoming) bool) {
	verdict := "no"
	defer func() { _, _ = fmt.Fprintln(g.answer, verdict) }() // a hook that is gone needs no answer
	in.Tell = func(line string) { _, _ = fmt.Fprintln(g.answer, "say "+printable(line)) }
	var err error
	if in.Quarantine, in.Updates, err = readQuestion(g.ask); err != nil {
		in.Tell(err.Error())
		return
	}
	if check == nil || check(ctx, in) {
		g.allowed, verdict = in.Updates, "ok"
	}
}

// readQuestion reads the quarantine's path, then "old new name" a line, then a dot.
func readQuestion(from *os.File) (quarantine string, updates []Update, err error) {
	scan := bufio.NewScanner(from)
	if !scan.Scan() {
		return "", nil, errors.New("nobody asked")
	}
	quarantine = scan.Text()
	for scan.Scan() && scan.Text() != "." {
		f := strings.SplitN(scan.Text(), " ", 3)
		if len(updates) == maxCommands {
			return "", nil, fmt.Errorf("a push may move %d references at most", maxCommands)
		}
		if len(f) != 3 || !plumbing.IsHash(f[0]) || !plumbing.IsHash(f[1]) {
			return "", nil, errors.New("the push cannot be checked: git asked in an unknown form")
		}
		updates = append(updates, Update{Ref: f[2], Old: f[0], New: f[1]})
	}
	return quarantine, updates, scan.Err()
}

// printable keeps what came from a push from steering the terminal of whoever reads it.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, line)
}

// env is what makes git run the hook, and the hook find the gate. Configuration in the environment counts before the repository's own.
func (g *gate) env(hooks string) []string {
	return []string{"KUBEHENGE_PUSH=" + g.dir, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=" + hooks}
}

type identityKey struct{}

// WithIdentity marks a request's context as made by somebody whom the caller has authenticated. Authenticate is then not asked.
func WithIdentity(ctx context.Context, identity string) context.Context {
	return context.WithValue(ctx, identityKey{}, identity)
}
