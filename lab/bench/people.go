package bench

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"

	pve "github.com/luthermonson/go-proxmox"

	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/lab"
)

const (
	// atOnce is how many people change clusters at once.
	atOnce = 50
	// pushers is how many people push, once each: who was not seen before has no privileges remembered.
	pushers = 20
	// colleagues is the group that everybody is in.
	colleagues = "bench"
)

// account is the i-th of the people: first those at the page, then those who push.
func (o *office) account(i int) lab.Account {
	return lab.Account{User: fmt.Sprintf("bench-%d@pve", i), Password: o.password}
}

// hire makes accounts that may change every cluster, by a group's right to the workload pool.
func (o *office) hire(ctx context.Context) error {
	o.password = rand.Text()
	root := pve.NewClient(o.lab.Proxmox.URL(), pve.WithHTTPClient(trusting(o.lab.Proxmox.CA())),
		pve.WithCredentials(&pve.Credentials{Username: lab.Administrator.User, Password: lab.Administrator.Password}))
	if err := root.Post(ctx, "/access/groups", map[string]any{"groupid": colleagues}, nil); err != nil {
		return fmt.Errorf("make a group: %w", err)
	}
	for path, role := range grants {
		entry := map[string]any{"path": path, "roles": role, "groups": colleagues, "propagate": 1}
		if err := root.Put(ctx, "/access/acl", entry, nil); err != nil {
			return fmt.Errorf("give the group %s on %s: %w", role, path, err)
		}
	}
	for i := range atOnce + pushers {
		a := o.account(i)
		user := map[string]any{"userid": a.User, "password": a.Password, "groups": colleagues}
		if err := root.Post(ctx, "/access/users", user, nil); err != nil {
			return fmt.Errorf("make the user %s: %w", a.User, err)
		}
	}
	return nil
}

// grants are what creating and changing clusters takes, as docs/appliance.md has it.
var grants = map[string]string{
	"/pool/kubehenge": "PVEVMAdmin", "/storage/shared": "PVEDatastoreUser", "/sdn/zones/localnetwork": "PVESDNUser",
}

// trusting is an HTTP client that trusts a CA, in PEM, and leaves answers compressed.
func trusting(ca []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true, ForceAttemptHTTP2: true}}
}

// signIn opens a session for everybody at the page.
func (o *office) signIn(ctx context.Context) error {
	ca, err := os.ReadFile(o.lab.GitCA())
	if err != nil {
		return fmt.Errorf("read the appliance's CA: %w", err)
	}
	for i := range atOnce {
		person, err := client.New(client.Session{URL: o.lab.PageURL(), CA: string(ca)})
		if err != nil {
			return err
		}
		a := o.account(i)
		if err := person.SignIn(ctx, wire.SignIn{User: a.User, Password: a.Password}); err != nil {
			return fmt.Errorf("sign %s in: %w", a.User, err)
		}
		o.people = append(o.people, person)
	}
	return nil
}
