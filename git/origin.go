package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Origins are the commits with which folders came to be that a commit holds, by folder. It looks back along first parents over that many commits; what came
// before that, or is not there, is left out. What a merge brought came with the merge.
func (r *Repository) Origins(ctx context.Context, start string, folders []string, most int) (map[string]*Commit, error) {
	found, sought := map[string]*Commit{}, map[string]bool{}
	for _, f := range folders {
		is, err := r.hasFolder(start, f)
		if err != nil {
			return nil, fmt.Errorf("look for where folders came from: %w", err)
		}
		if is {
			sought[f] = true
		}
	}
	for at := start; at != "" && len(sought) > 0 && most > 0; most-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := r.Commit(at)
		if err != nil {
			return nil, err
		}
		at = firstParent(c)
		came, err := r.came(at, c, sought)
		if err != nil {
			return nil, fmt.Errorf("look for where folders came from: %w", err)
		}
		for _, folder := range came {
			found[folder] = c
			delete(sought, folder)
		}
	}
	return found, nil
}

func firstParent(c *Commit) string {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// came are the folders among those sought, which a commit has, that the one before it has not.
func (r *Repository) came(before string, c *Commit, sought map[string]bool) (came []string, err error) {
	files, err := r.Changed(before, c.Hash)
	if err != nil {
		return nil, err
	}
	touched := map[string]bool{}
	for _, file := range files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if sought[dir] {
				touched[dir] = true
			}
		}
	}
	for folder := range touched {
		was, err := r.hasFolder(before, folder)
		if err != nil {
			return nil, err
		}
		if !was {
			came = append(came, folder)
		}
	}
	return came, nil
}

func (r *Repository) hasFolder(sha, folder string) (bool, error) {
	if sha == "" {
		return false, nil
	}
	t, err := r.Tree(sha)
	if err != nil {
		return false, err
	}
	_, err = t.Digest(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
