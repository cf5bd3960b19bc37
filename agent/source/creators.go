package source

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"

	"kubehenge.dev/git"
)

// lookBack is over how many commits it is looked who made a folder. Nearly always it came with the newest.
const lookBack = 1000

// maxCreator is how much of a name is kept, in bytes.
const maxCreator = 254

// Creators are who made folders that a commit in force holds, as far as that is to be found: for whom the appliance made the commit with which the folder came, or
// who pushed it there, or else the author's address. Applied is the commit that was in force before, empty for none.
func (s *Source) Creators(ctx context.Context, commit, applied string, folders []string) (map[string]string, error) {
	origins, err := s.repo.Origins(ctx, commit, folders, lookBack)
	if err != nil {
		return nil, err
	}
	pusher := ""
	if vouch, err := s.repo.Vouch(commit); err == nil && vouch != nil {
		pusher = vouch.User
	}
	creators := map[string]string{}
	for folder, c := range origins {
		pushed, err := s.cameWith(ctx, c, commit, applied)
		if err != nil {
			return nil, err
		}
		by := c.User()
		if by == "" && pushed {
			by = pusher
		}
		creators[folder] = oneWord(cmp.Or(by, c.Author.Email))
	}
	return creators, nil
}

// cameWith tells whether a commit came together with the tip, so that the word for the tip says who brought it.
func (s *Source) cameWith(ctx context.Context, c *git.Commit, tip, applied string) (bool, error) {
	if c.Hash == tip || applied == "" {
		return c.Hash == tip, nil
	}
	was, err := s.repo.Descends(ctx, applied, c.Hash)
	if errors.Is(err, git.ErrUnknownCommit) {
		return false, nil // history was rewritten, and the applied commit is gone
	}
	return !was && err == nil, err
}

// oneWord is a name as an annotation may hold it. Who writes to the repository chooses it.
func oneWord(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	for len(name) > maxCreator {
		cut := []rune(name)
		name = string(cut[:len(cut)-1])
	}
	return name
}
