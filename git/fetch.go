package git

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage"
)

// checkedRefs is where a server puts its signed word that a pushed commit passed its checks: refs/kubehenge/checked/<commit>.
const checkedRefs = "refs/kubehenge/checked/"

// Fetch brings the clone up to the branch's tip and returns it. When nothing changed it is one request. After a force push it returns the new tip,
// whatever it descends from; the caller decides. A damaged clone is made afresh.
func (r *Repository) Fetch(ctx context.Context) (tip string, err error) {
	if r.bare {
		h, err := r.readTip()
		if err != nil {
			return "", fmt.Errorf("read %s: %w", r.opts.Branch, err)
		}
		return h.String(), ctx.Err()
	}
	err = r.ask(ctx, "fetch "+r.opts.Branch, func(ctx context.Context, session transport.UploadPackSession) error {
		h, err := r.fetch(ctx, session)
		tip = h.String()
		return err
	})
	if err != nil {
		return "", err
	}
	return tip, nil
}

// FetchCommit brings a commit that the branch may not reach any more. Servers give such commits as they are configured (uploadpack.allowAnySHA1InWant
// and its like): ErrUnknownCommit when they do not.
func (r *Repository) FetchCommit(ctx context.Context, sha string) error {
	h, err := parseHash(sha)
	if err != nil {
		return err
	}
	if r.holds(h) {
		return nil
	}
	return r.ask(ctx, "fetch commit "+sha, func(ctx context.Context, session transport.UploadPackSession) error {
		refs, err := session.AdvertisedReferencesContext(ctx)
		if err != nil {
			return err
		}
		if err := r.download(ctx, session, refs.Capabilities, []plumbing.Hash{h}); err != nil || !r.holds(h) {
			return fmt.Errorf("%w: the server does not give it", ErrUnknownCommit)
		}
		return nil
	})
}

// ask opens a session to fetch, within the time limit, and keeps credentials out of what goes wrong.
func (r *Repository) ask(ctx context.Context, what string, do func(context.Context, transport.UploadPackSession) error) error {
	if r.remote == nil {
		return errReadOnly
	}
	r.talk.Lock()
	defer r.talk.Unlock()
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	doing := what + " from " + r.remote.shown()
	if err := r.repair(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	session, secret, err := r.remote.uploadPack()
	if err != nil {
		return remoteError(doing, err, secret)
	}
	defer func() { _ = session.Close() }() // its outcome says nothing that the fetch has not said
	if err := do(ctx, session); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return remoteError(doing, err, secret)
	}
	return nil
}

// repair makes a damaged clone afresh.
func (r *Repository) repair() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.corrupt {
		return nil
	}
	return r.recreate()
}

func (r *Repository) fetch(ctx context.Context, session transport.UploadPackSession) (plumbing.Hash, error) {
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tip, ok := refs.References[r.branch().String()]
	if !ok {
		return plumbing.ZeroHash, fmt.Errorf("%w: %s", ErrNoBranch, r.opts.Branch)
	}
	vouch := refs.References[checkedRefs+tip.String()]
	if wants := r.lacking(tip, vouch); len(wants) > 0 {
		if err := r.download(ctx, session, refs.Capabilities, wants); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	return tip, r.arrived(tip, vouch)
}

// lacking is which of the objects the clone does not hold.
func (r *Repository) lacking(objects ...plumbing.Hash) (wants []plumbing.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range objects {
		if !h.IsZero() && r.store.HasEncodedObject(h) != nil {
			wants = append(wants, h)
		}
	}
	return wants
}

// arrived moves the tip, after seeing that its commit and root folder are there.
func (r *Repository) arrived(tip, vouch plumbing.Hash) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.commit(tip)
	if errors.Is(err, ErrUnknownCommit) {
		return r.damaged(err)
	}
	if err != nil {
		return err
	}
	if _, err := r.entries(plumbing.NewHash(c.Tree)); err != nil {
		return err
	}
	r.vouch = vouch
	return r.moveTip(tip)
}

func (r *Repository) moveTip(tip plumbing.Hash) error {
	if tip == r.tip {
		return nil
	}
	if r.bare {
		r.tip = tip
		return nil
	}
	if err := r.store.SetReference(plumbing.NewHashReference(r.branch(), tip)); err != nil {
		return fmt.Errorf("write the branch: %w", err)
	}
	r.tip = tip
	return nil
}

// download asks for wants and stores what comes. The transfer goes to a file first, so that readers wait only for the unpacking.
func (r *Repository) download(ctx context.Context, session transport.UploadPackSession, caps *capability.List, wants []plumbing.Hash) error {
	req := packp.NewUploadPackRequestFromCapabilities(caps)
	if caps.Supports(capability.NoProgress) {
		if err := req.Capabilities.Set(capability.NoProgress); err != nil {
			return err
		}
	}
	req.Wants, req.Haves = wants, r.haves()
	res, err := session.UploadPack(ctx, req)
	if err != nil {
		return err
	}
	pack, err := r.spool(demultiplex(req.Capabilities, res))
	err = errors.Join(err, res.Close())
	if pack != nil {
		defer func() { _ = os.Remove(pack.Name()) }()
		defer func() { _ = pack.Close() }()
	}
	if err != nil {
		return err
	}
	return r.unpack(pack)
}

func demultiplex(caps *capability.List, res io.Reader) io.Reader {
	switch {
	case caps.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, res)
	case caps.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, res)
	}
	return res
}

// spool copies the pack to a temporary file, up to the limit.
func (r *Repository) spool(pack io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "kubehenge-pack-*")
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, io.LimitReader(pack, r.opts.MaxPack+1))
	if err != nil {
		return f, err
	}
	if n > r.opts.MaxPack {
		return f, fmt.Errorf("%w: more than %d bytes to fetch", ErrTooLarge, r.opts.MaxPack)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// unpackLimit is Git's fetch.unpackLimit: smaller packs are stored as single objects, or each commit would leave a pack and its index behind.
const unpackLimit = 100

func (r *Repository) unpack(pack *os.File) error {
	count, err := packCount(pack)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if count >= unpackLimit {
		return packfile.UpdateObjectStorage(r.store, pack)
	}
	// The wrapper shows storage.Storer's methods only, so that go-git does not find the one that keeps packs.
	return packfile.UpdateObjectStorage(struct{ storage.Storer }{r.store}, pack)
}

// packCount reads the number of objects out of a pack's header. https://git-scm.com/docs/gitformat-pack
func packCount(pack *os.File) (uint32, error) {
	var header [12]byte
	if _, err := io.ReadFull(pack, header[:]); err != nil {
		return 0, fmt.Errorf("the server sent no pack: %w", err)
	}
	_, err := pack.Seek(0, io.SeekStart)
	return binary.BigEndian.Uint32(header[8:]), err
}

// maxHaves bounds how many commits are named to the server as known.
const maxHaves = 32

// haves names the tip and some of its ancestors, further and further apart, so that the server finds common history after a rewrite too.
func (r *Repository) haves() (haves []plumbing.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, step := r.tip, 1
	for n := 0; !at.IsZero() && len(haves) < maxHaves; n++ {
		parents, err := r.parents(at)
		if err != nil {
			return haves
		}
		if n == 0 || n == step {
			haves, step = append(haves, at), max(n*2, 1)
		}
		if len(parents) == 0 {
			return haves
		}
		at = parents[0]
	}
	return haves
}
