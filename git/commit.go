package git

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Commit is one commit as it is stored.
type Commit struct {
	Hash    string
	Tree    string
	Parents []string
	Author  Person
	// Committer says who made the commit object; for a rebased or merged change not its author.
	Committer Person
	Message   string
	// Signature is the armored signature; empty when unsigned.
	Signature string

	payload []byte // what the signature is over
}

// Person is a name, an address and a time in a commit.
type Person struct {
	Name, Email string
	When        time.Time
}

// Subject is the first line of the message.
func (c *Commit) Subject() string {
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return subject
}

// userTrailer begins the line of a message, a commit's or a word's, that says for whom the server made or took it.
const userTrailer = "Kubehenge-User: "

// User is for whom the server made a commit, as its message says; empty for one that it did not make. No push to the server may say so.
func (c *Commit) User() string { return userIn(c.Message) }

func userIn(message string) (user string) {
	for line := range strings.Lines(message) {
		if is, says := strings.CutPrefix(line, userTrailer); says {
			user = strings.TrimSpace(is)
		}
	}
	return user
}

// Commit reads one commit by its 40 digits.
func (r *Repository) Commit(sha string) (*Commit, error) {
	h, err := parseHash(sha)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commit(h)
}

// commit reads one commit. The caller holds r.mu.
func (r *Repository) commit(h plumbing.Hash) (*Commit, error) {
	content, err := r.object(plumbing.CommitObject, h, maxCommit)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fmt.Errorf("%s: %w", h, ErrUnknownCommit)
	}
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(content)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", h, err)
	}
	c.Hash = h.String()
	return c, nil
}

// parseCommit is strict about the headers whose meaning a signature vouches for: one tree, then parents, then author, then committer, each once,
// as Git writes them. Otherwise two readers could see two different commits under one signature.
func parseCommit(content []byte) (*Commit, error) {
	headers, message, ok := bytes.Cut(content, []byte("\n\n"))
	if !ok {
		headers = bytes.TrimSuffix(content, []byte("\n")) // a commit without message ends after its headers
	}
	p := commitParser{c: &Commit{Message: string(message)}}
	for line := range bytes.Lines(append(bytes.Clone(headers), '\n')) {
		if err := p.line(line); err != nil {
			return nil, err
		}
	}
	if p.stage != afterCommitter {
		return nil, fmt.Errorf("commit lacks a tree, an author or a committer: %w", ErrMalformed)
	}
	p.c.Signature = p.signature.String()
	if ok {
		p.payload.WriteByte('\n')
		p.payload.Write(message)
	}
	p.c.payload = p.payload.Bytes()
	return p.c, nil
}

// The order of headers; each stage names what was read last.
const (
	atStart = iota
	afterTree
	afterAuthor
	afterCommitter
)

type commitParser struct {
	c         *Commit
	stage     int
	last      string // the header that a continuation line belongs to
	payload   bytes.Buffer
	signature strings.Builder
}

// line takes one header line, its end included.
func (p *commitParser) line(line []byte) error {
	if line[0] == ' ' {
		if p.last == "gpgsig" {
			p.signature.Write(line[1:])
			return nil
		}
		p.payload.Write(line)
		return nil
	}
	key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	p.last = key
	if key == "gpgsig" {
		if p.signature.Len() > 0 {
			return fmt.Errorf("commit has two signatures: %w", ErrMalformed)
		}
		p.signature.WriteString(value + "\n")
		return nil
	}
	p.payload.Write(line)
	return p.header(key, value)
}

func (p *commitParser) header(key, value string) (err error) {
	switch {
	case key == "tree" && p.stage == atStart:
		p.stage, p.c.Tree = afterTree, value
		err = wantHash(key, value)
	case key == "parent" && p.stage == afterTree:
		p.c.Parents = append(p.c.Parents, value)
		err = wantHash(key, value)
	case key == "author" && p.stage == afterTree:
		p.stage = afterAuthor
		p.c.Author, err = parsePerson(value)
	case key == "committer" && p.stage == afterAuthor:
		p.stage = afterCommitter
		p.c.Committer, err = parsePerson(value)
	case p.stage != afterCommitter || key == "tree" || key == "parent" || key == "author" || key == "committer" || key == "gpgsig-sha256":
		err = fmt.Errorf("commit header %q is not where Git writes it: %w", key, ErrMalformed)
	}
	return err
}

func wantHash(key, value string) error {
	if !plumbing.IsHash(value) {
		return fmt.Errorf("commit header %s is %q: %w", key, value, ErrMalformed)
	}
	return nil
}

var person = regexp.MustCompile(`^(.*?) ?<([^<>]*)> (-?\d{1,12}) ([+-])(\d{2})(\d{2})$`)

// parsePerson reads "Name <address> seconds zone".
func parsePerson(s string) (Person, error) {
	m := person.FindStringSubmatch(s)
	if m == nil {
		return Person{}, fmt.Errorf("commit names %q as a person: %w", s, ErrMalformed)
	}
	var n [3]int64
	for i, digits := range []string{m[3], m[5], m[6]} {
		n[i], _ = strconv.ParseInt(digits, 10, 64) // the pattern leaves nothing to fail
	}
	offset := n[1]*3600 + n[2]*60
	if m[4] == "-" {
		offset = -offset
	}
	return Person{Name: m[1], Email: m[2], When: time.Unix(n[0], 0).In(time.FixedZone("", int(offset)))}, nil
}

// String is the person as a commit holds it. Characters that would end the field are left out, as Git does.
func (p Person) String() string {
	drop := func(r rune) rune {
		if r == '<' || r == '>' || r == '\n' || r == 0 {
			return -1
		}
		return r
	}
	name := strings.TrimSpace(strings.Map(drop, p.Name))
	email := strings.TrimSpace(strings.Map(drop, p.Email))
	return fmt.Sprintf("%s <%s> %d %s", name, email, p.When.Unix(), p.When.Format("-0700"))
}
