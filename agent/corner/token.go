package corner

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// tokenNames are the names that a cluster's tokens take turns in.
var tokenNames = []string{v1alpha1.ClusterToken, v1alpha1.ClusterToken + "-2"}

// otherName is the name that the next token gets.
func otherName(name string) string {
	if name == tokenNames[0] {
		return tokenNames[1]
	}
	return tokenNames[0]
}

// mark identifies one token without saying anything of its secret. It stands in the token's comment in Proxmox VE and
// beside the secret in the management cluster: only where the two agree is the secret the token's.
type mark struct {
	name  string
	made  time.Time
	nonce string
}

func newMark(name string, now time.Time) mark {
	var nonce [4]byte
	rand.Read(nonce[:])
	return mark{name: name, made: now.UTC().Truncate(time.Second), nonce: hex.EncodeToString(nonce[:])}
}

// comment is what people read beside the token in Proxmox VE.
func (m mark) comment() string {
	return fmt.Sprintf("Kubehenge: made %s; %s", m.made.Format(time.RFC3339), m.nonce)
}

var commentForm = regexp.MustCompile(`^Kubehenge: made (\S+); ([0-9a-f]{8})$`)

// markOf reads a token's comment; false for one that somebody else wrote.
func markOf(t proxmox.Token) (mark, bool) {
	found := commentForm.FindStringSubmatch(t.Comment)
	if found == nil {
		return mark{}, false
	}
	made, err := time.Parse(time.RFC3339, found[1])
	if err != nil {
		return mark{}, false
	}
	return mark{name: t.Name, made: made.UTC(), nonce: found[2]}, true
}

// String is the form of the annotation beside the secret; parseMark reads it.
func (m mark) String() string {
	return fmt.Sprintf("%s %s %s", m.name, m.made.Format(time.RFC3339), m.nonce)
}

var markForm = regexp.MustCompile(`^(\S+) (\S+) ([0-9a-f]{8})$`)

func parseMark(s string) (mark, bool) {
	found := markForm.FindStringSubmatch(s)
	if found == nil || !slices.Contains(tokenNames, found[1]) {
		return mark{}, false
	}
	made, err := time.Parse(time.RFC3339, found[2])
	if err != nil {
		return mark{}, false
	}
	return mark{name: found[1], made: made.UTC(), nonce: found[3]}, true
}

// plan is what is to be done about a cluster's tokens.
type plan struct {
	// why is what is missing or asked for; empty where there is nothing to do.
	why string
	// drop are tokens that nobody uses, to be removed before.
	drop []string
	// make is the name of the token to make.
	make string
	// rotation is true where nothing was taken away.
	rotation bool
}

// tokens is what a decision about a cluster's tokens is made of.
type tokens struct {
	// present are the cluster's tokens in Proxmox VE.
	present []proxmox.Token
	// stored is the token whose secret the management cluster holds; nil for none.
	stored *mark
	// former is the token that stored took the place of, as long as the cluster may use it.
	former *mark
	// delivered is true once the cluster may have been given any token.
	delivered bool
	// wanted is why a new token is asked for; empty for no reason.
	wanted string
}

func (t tokens) find(name string) *proxmox.Token {
	i := slices.IndexFunc(t.present, func(p proxmox.Token) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &t.present[i]
}

// is tells whether the token of that name is the marked one, and not one that somebody made under the same name.
func (t tokens) is(m *mark) bool {
	if m == nil {
		return false
	}
	found := t.find(m.name)
	if found == nil {
		return false
	}
	seen, ok := markOf(*found)
	return ok && seen == *m
}

// decide is the whole decision; it is pure.
func (t tokens) decide() plan {
	switch {
	case t.stored == nil && !t.delivered:
		// A crash between the token's making and its secret's storing: nobody has used what is there.
		return plan{why: "token " + tokenNames[0], drop: t.names(tokenNames...), make: tokenNames[0]}
	case t.stored == nil:
		return t.replaceUnknown()
	case !t.is(t.stored):
		return plan{why: "token " + t.stored.name, drop: t.names(t.stored.name), make: t.stored.name}
	case !t.sound():
		return t.rotate("token " + t.stored.name + ", which was changed")
	case t.wanted != "":
		p := t.rotate(t.wanted)
		p.rotation = true
		return p
	}
	return plan{}
}

// sound is false for a token that somebody gave an end, or all of its user's rights.
func (t tokens) sound() bool {
	found := t.find(t.stored.name)
	return found.Separated && found.Expire.IsZero()
}

// replaceUnknown makes a token under the free name, since the cluster may use the other; with both taken, the younger
// one makes room.
func (t tokens) replaceUnknown() plan {
	const why = "Secret with the token"
	for _, name := range tokenNames {
		if t.find(name) == nil {
			return plan{why: why, make: name}
		}
	}
	younger := tokenNames[1]
	a, okA := markOf(*t.find(tokenNames[0]))
	b, okB := markOf(*t.find(tokenNames[1]))
	if !okA || okB && a.made.After(b.made) {
		younger = tokenNames[0]
	}
	return plan{why: why, drop: []string{younger}, make: younger}
}

// rotate makes the second token. While the cluster may still use the one before, nothing new begins; one that was made
// and never stored is dropped, as nobody has used it.
func (t tokens) rotate(why string) plan {
	if t.is(t.former) {
		return plan{}
	}
	next := otherName(t.stored.name)
	return plan{why: why, drop: t.names(next), make: next}
}

// names are those of the names that are present.
func (t tokens) names(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return t.find(n) == nil })
}

// leftover is the token beside the one in force that is to go once the cluster uses that; empty for none.
func (t tokens) leftover() string {
	if !t.is(t.stored) {
		return ""
	}
	if other := otherName(t.stored.name); t.find(other) != nil {
		return other
	}
	return ""
}
