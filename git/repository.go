package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Repository is a bare clone of one branch, on disk or in memory. Its methods may be called from several goroutines; reading goes on while a
// fetch transfers.
type Repository struct {
	opts   Options
	remote *remote // nil for a repository opened in place
	bare   bool    // opened in place to be written too
	// quarantine is where the objects of a push are that is not taken yet; empty otherwise.
	quarantine string

	talk sync.Mutex // one conversation with the server at a time; taken before mu

	mu      sync.Mutex // go-git's storage is not safe for concurrent use
	store   storage.Storer
	folders *folders
	tip     plumbing.Hash
	vouch   plumbing.Hash // what refs/kubehenge/checked/<tip> names
	corrupt bool
}

// marker is the file that makes a folder ours to delete; it holds what the clone is of.
const marker = "kubehenge-clone"

// objectCache bounds what go-git keeps of unpacked objects.
const objectCache = 16 * cache.MiByte

// Open opens or prepares the clone. It does not talk to the server: Fetch does. A clone of another URL or branch, or a damaged one, is removed; a
// folder that holds anything else is refused.
func Open(ctx context.Context, o Options) (*Repository, error) {
	o, err := o.defaulted()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Repository{opts: o, folders: newFolders()}
	if r.remote, err = newRemote(o); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		r.store = memory.NewStorage()
		return r, nil
	}
	if err := r.openDir(); err != nil {
		return nil, fmt.Errorf("open the clone in %s: %w", o.Dir, err)
	}
	return r, nil
}

func (r *Repository) openDir() error {
	state, err := r.dirState()
	if err != nil {
		return err
	}
	switch state {
	case dirForeign:
		return errors.New("the folder holds something else; give one that is empty")
	case dirOurs:
		r.openStore()
		if r.intact() {
			return nil
		}
	}
	return r.recreate()
}

// The three kinds of folder.
const (
	dirFresh   = iota // empty, missing, or a clone of something else
	dirOurs           // a clone of this branch
	dirForeign        // not a clone of this program
)

func (r *Repository) dirState() (int, error) {
	names, err := os.ReadDir(r.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return dirFresh, nil
	}
	if err != nil {
		return 0, err
	}
	of, err := os.ReadFile(filepath.Join(r.opts.Dir, marker))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dirForeign, nil
	case err != nil:
		return 0, err
	case string(of) != r.identity():
		return dirFresh, nil
	}
	return dirOurs, nil
}

func (r *Repository) identity() string { return r.opts.URL + "\n" + r.opts.Branch + "\n" }

func boundTo(dir string) billy.Filesystem { return osfs.New(dir, osfs.WithBoundOS()) }

func newObjectCache() cache.Object { return cache.NewObjectLRU(objectCache) }

func (r *Repository) openStore() {
	r.store = filesystem.NewStorageWithOptions(boundTo(r.opts.Dir), newObjectCache(), filesystem.Options{KeepDescriptors: true})
}

// intact reads the tip, its commit and its root folder.
func (r *Repository) intact() bool {
	ref, err := r.store.Reference(r.branch())
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return true // nothing fetched yet
	}
	if err != nil {
		return false
	}
	c, err := r.commit(ref.Hash())
	if err != nil {
		return false
	}
	if _, err := r.entries(plumbing.NewHash(c.Tree)); err != nil {
		return false
	}
	r.tip = ref.Hash()
	return true
}

func (r *Repository) branch() plumbing.ReferenceName {
	return plumbing.NewBranchReferenceName(r.opts.Branch)
}

// recreate empties the folder and starts a clone. The marker is written first and removed last, so that a crash in between leaves a folder that
// is still known as ours.
func (r *Repository) recreate() error {
	r.folders, r.tip, r.vouch, r.corrupt = newFolders(), plumbing.ZeroHash, plumbing.ZeroHash, false
	if r.opts.Dir == "" {
		r.store = memory.NewStorage()
		return nil
	}
	if old, ok := r.store.(*filesystem.Storage); ok {
		_ = old.Close() // its files are about to be deleted
	}
	if err := os.MkdirAll(r.opts.Dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.opts.Dir, marker), []byte("being made\n"), 0o600); err != nil {
		return err
	}
	if err := emptyDir(r.opts.Dir); err != nil {
		return err
	}
	r.openStore()
	if err := r.store.(*filesystem.Storage).Init(); err != nil {
		return err
	}
	head := plumbing.NewSymbolicReference(plumbing.HEAD, r.branch())
	if err := r.store.SetReference(head); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.opts.Dir, marker), []byte(r.identity()), 0o600)
}

// emptyDir removes all but the marker; the folder itself may be a mount point.
func emptyDir(dir string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.Name() == marker {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, n.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Tip is the branch's last fetched or pushed commit; empty before the first Fetch. After a restart it is what the clone on disk holds.
func (r *Repository) Tip() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tip.IsZero() {
		return ""
	}
	return r.tip.String()
}

// URL is where the repository is, without credentials.
func (r *Repository) URL() string { return clean(r.opts.URL) }

// Branch is the branch that is fetched and pushed.
func (r *Repository) Branch() string { return r.opts.Branch }

// Close closes the clone's files. The folder stays.
func (r *Repository) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.store.(*filesystem.Storage); ok {
		return s.Close()
	}
	return nil
}
