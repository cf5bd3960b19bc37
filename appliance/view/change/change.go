// Package change answers: what is shown of a commit and of the repository, and to whom? Who may read the repository sees all of it; everybody else sees
// what happened to the clusters that they may see, and no other file.
package change

import (
	"time"

	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/render/permission"
)

// State is how far the agent is with a commit.
type State string

// The states of a commit. Where the agent has said nothing yet there is none.
const (
	// Applied says that the agent has put it in force.
	Applied State = "applied"
	// Waiting says that the agent has not got to it yet.
	Waiting State = "waiting"
	// Refused says that the agent does not accept the branch's tip, which this commit is part of.
	Refused State = "refused"
)

// Change is one commit.
type Change struct {
	// Commit is its 40 digits, Subject its first line, Body the rest of what people wrote. Neither is told where it names a cluster that the commit touched
	// and that the person may not see.
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
	// Author wrote it, at Time. User is who is meant: the user of Proxmox VE for whom the appliance committed, or who
	// pushed it, else the author.
	Author string    `json:"author"`
	Time   time.Time `json:"time"`
	User   string    `json:"user,omitempty"`
	// SignedBy is Kubehenge for the appliance's own signature, else the fingerprint of the key; empty without a right one. Vouched says that the appliance
	// took it as the tip of a push and gave its word for it.
	SignedBy string `json:"signedBy,omitempty"`
	Vouched  bool   `json:"vouched,omitempty"`
	// Checked are the privileges that the appliance verified, each "privilege path".
	Checked []string `json:"checked,omitempty"`
	// State is how far the agent is with it; empty where that is not known.
	State State `json:"state,omitempty"`
	// Clusters are those that it touched, Files those that it changed; only what the person may see. In lists there are 50 of each at most, and 500 where one
	// commit is asked for.
	Clusters []Cluster `json:"clusters"`
	Files    []string  `json:"files"`
	// Diff is the unified diff of the files, only where one commit is asked for. Cut says that it was too long and ends before its end.
	Diff string `json:"diff,omitempty"`
	Cut  bool   `json:"cut,omitempty"`
	// Undo says whether the person may undo it now, and why not. In lists it is what can be told at a glance; where one commit is asked for it is judged.
	Undo permission.Answer `json:"undo"`
}

// Cluster is a cluster that a commit touched.
type Cluster struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Deed is created, changed, deleted (the claim became a tombstone) or removed (its folder went).
	Deed history.Deed `json:"deed"`
}

// List are commits, the newest first.
type List struct {
	Changes []Change `json:"changes"`
	// More says that there are older ones: ask again with before, the last one's commit.
	More bool `json:"more"`
}

// Repository is where the repository is and how it stands.
type Repository struct {
	// CloneURL is what git clone takes, Branch the one branch, Tip its newest commit.
	CloneURL string      `json:"cloneURL"`
	Branch   string      `json:"branch"`
	Tip      *Change     `json:"tip,omitempty"`
	Agent    fleet.Agent `json:"agent"`
	// LastFetch is when the agent asked this server last; absent before it did.
	LastFetch *time.Time `json:"lastFetch,omitempty"`
	// Mirror is absent where none is set up.
	Mirror *Mirror `json:"mirror,omitempty"`
	// Refused are the last pushes that were not taken, the newest first.
	Refused []Refusal `json:"refused"`
	// SigningKey is the line for lists of allowed signers.
	SigningKey string `json:"signingKey"`
}

// Refusal is a push that was not taken.
type Refusal struct {
	Time    time.Time `json:"time"`
	User    string    `json:"user"`
	Message string    `json:"message"`
}

// Mirror is how the mirror stands.
type Mirror struct {
	// URL is without credentials. Direction is to, from or both.
	URL       string `json:"url"`
	Direction string `json:"direction"`
	// State is unknown, in-step, behind, diverged, refused or failed; Message is one sentence, true since Since.
	State   string    `json:"state"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}
