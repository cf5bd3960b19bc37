package smarthttp

import (
	"errors"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Push is what a push did.
type Push struct {
	// Repository is its name, as fleet.git.
	Repository string
	// Identity is who pushed, as Authenticate named them.
	Identity string
	// Updates are the references that moved.
	Updates []Update
}

// Update is one moved reference. Old or New is forty zeros when it was created or deleted.
type Update struct{ Ref, Old, New string }

// tell calls AfterPush with what now is as the push wanted it.
func (h *Handler) tell(dir, identity string, wanted []Update) {
	if h.opts.AfterPush == nil {
		return
	}
	store := filesystem.NewStorage(osfs.New(dir, osfs.WithBoundOS()), cache.NewObjectLRU(cache.MiByte))
	var done []Update
	for _, u := range wanted {
		if u.Old != u.New && isAt(store, u) {
			done = append(done, u)
		}
	}
	if len(done) > 0 {
		h.opts.AfterPush(Push{Repository: filepath.Base(dir), Identity: identity, Updates: done})
	}
}

func isAt(store *filesystem.Storage, u Update) bool {
	ref, err := store.Reference(plumbing.ReferenceName(u.Ref))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.NewHash(u.New).IsZero()
	}
	return err == nil && ref.Hash().String() == u.New
}
