package core

import (
	"errors"
	"slices"

	"kubehenge.dev/proxmox/simulator/openid"
	"kubehenge.dev/proxmox/simulator/schema"
)

// OpenID is how the realm's provider is asked.
func (r *Realm) OpenID() openid.Config {
	o := r.Options
	scopes := o["scopes"]
	if scopes == "" {
		scopes = "email profile"
	}
	return openid.Config{Issuer: o["issuer-url"], ClientID: o["client-id"], ClientKey: o["client-key"], Scopes: schema.SplitList(scopes), Prompt: o["prompt"],
		ACR: schema.SplitList(o["acr-values"]), Audiences: schema.SplitList(o["audiences"]), SkipUserInfo: o["query-userinfo"] == "0"}
}

// Authenticate checks a password as the server behind a realm would.
func (d *Directory) Authenticate(name, password string) error {
	if u, known := d.User(name); !known || u.Password == "" || u.Password != password {
		return errors.New("80090308: LdapErr: DSID-0C09030F, comment: AcceptSecurityContext error, data 52e")
	}
	return nil
}

// Realm is a place where users are known.
type Realm struct {
	Name, Kind, Comment string
	IsDefault           bool
	Options             map[string]string
	Directory           *Directory // of ldap and ad
}

// Factor is the type of the second factor that the realm demands, empty if it demands none.
func (r *Realm) Factor() string {
	kind, _ := ObjectOf(r.Options["tfa"])["type"].(string)
	return kind
}

// Directory is what stands in the LDAP or Active Directory server behind a realm: there is no such server, so an inventory
// tells it.
type Directory struct {
	Users  []DirectoryUser     `json:"users,omitempty"`
	Groups map[string][]string `json:"groups,omitempty"` // names of groups with the names of their members
}

// DirectoryUser is a user of a directory, who may sign in once the realm was synchronised.
type DirectoryUser struct {
	Name      string `json:"name"` // without the realm
	Password  string `json:"password,omitempty"`
	Email     string `json:"email,omitempty"`
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
}

// User is the directory's user of this name; false if it has none.
func (d *Directory) User(name string) (DirectoryUser, bool) {
	if d == nil {
		return DirectoryUser{}, false
	}
	i := slices.IndexFunc(d.Users, func(u DirectoryUser) bool { return u.Name == name })
	if i < 0 {
		return DirectoryUser{}, false
	}
	return d.Users[i], true
}
