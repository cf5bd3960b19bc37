// Package wire answers: what goes over the wire between the appliance and whoever calls its API? What is shown of clusters and commits is in appliance/view.
package wire

import (
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

// CSRFHeader carries the session's CSRF token in every request that is no GET.
const CSRFHeader = "X-Kubehenge-CSRF"

// Realm is a realm that people may sign in to.
type Realm struct {
	Name string `json:"name"`
	// Type is Proxmox VE's: pam, pve, ldap, ad or openid.
	Type    string `json:"type"`
	Comment string `json:"comment,omitempty"`
	// Default is true for the one that is chosen where nobody chooses.
	Default bool `json:"default,omitempty"`
}

// Realms are all realms.
type Realms struct {
	Realms []Realm `json:"realms"`
}

// SignIn is what a person signs in with.
type SignIn struct {
	// User is user@realm.
	User     string `json:"user"`
	Password string `json:"password"`
	// Factor is the kind of the second factor, totp, yubico or recovery, and Code what it gives. Both are empty at the first try.
	Factor string `json:"factor,omitempty"`
	Code   string `json:"code,omitempty"`
}

// Session is what a browser knows of its session. The identifier is in a cookie that no script can read.
type Session struct {
	// User is user@realm.
	User string `json:"user"`
	// CSRF is the token that every request other than a GET carries.
	CSRF string `json:"csrf"`
	// Ends is when the session ends, however active it is.
	Ends time.Time `json:"ends"`
	// Can says what the person may do at all: audit and create.
	Can map[string]permission.Answer `json:"can,omitempty"`
}

// NewCluster is what a person asks for.
type NewCluster struct {
	Namespace string                    `json:"namespace"`
	Name      string                    `json:"name"`
	Spec      v1alpha1.ClusterClaimSpec `json:"spec"`
}

// Change sets fields of a claim.
type Change struct {
	// Base is the commit that the person looked at; with one, what somebody else changed since is a conflict.
	Base string `json:"base,omitempty"`
	// Why is the commit's subject.
	Why    string         `json:"why,omitempty"`
	Fields []commit.Field `json:"fields"`
}

// Scale sets a number of nodes.
type Scale struct {
	// Base is as in Change.
	Base string `json:"base,omitempty"`
	// Pool is a worker pool; empty for the control plane.
	Pool     string `json:"pool,omitempty"`
	Replicas int32  `json:"replicas"`
}

// Upgrade sets the Kubernetes version.
type Upgrade struct {
	// Base is as in Change.
	Base    string `json:"base,omitempty"`
	Version string `json:"version"`
}

// Delete confirms a deletion.
type Delete struct {
	// Confirm is the cluster's name.
	Confirm string `json:"confirm"`
}

// Undo names the commit that is to be undone.
type Undo struct {
	Commit string `json:"commit"`
}

// Events are those of the audit log, the newest first.
type Events struct {
	Events []audit.Event `json:"events"`
}

// Failure is the body of every error.
type Failure struct {
	// Error is one sentence.
	Error string `json:"error"`
	// Missing are the privileges that the person lacks.
	Missing []permission.Need `json:"missing,omitempty"`
	// Problems are why the change does not pass the checks.
	Problems []render.Problem `json:"problems,omitempty"`
	// Conflicts are what somebody else changed meanwhile.
	Conflicts []commit.Conflict `json:"conflicts,omitempty"`
	// RetryAfterSeconds is how long to wait.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
	// Factors are the second factors that will do; present where one is wanted.
	Factors *Factors `json:"factors,omitempty"`
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

// Factors are kinds of second factors.
type Factors struct {
	TOTP     bool `json:"totp"`
	Yubico   bool `json:"yubico"`
	Recovery bool `json:"recovery"`
}

// Nothing is an empty object.
type Nothing struct{}
