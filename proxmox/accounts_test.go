package proxmox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// adminOf is a client that acts as the simulator's root@pam.
func adminOf(t *testing.T, s *simulator.Server) *proxmox.Client {
	t.Helper()
	c, err := proxmox.SignIn(context.Background(), optionsOf(s), proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func optionsOf(s *simulator.Server) proxmox.Options {
	return proxmox.Options{URL: s.URL(), CA: s.CA(), Clock: instant{}}
}

// step is one call and the kind of error that it ends with; empty for none.
type step struct {
	name string
	do   func() error
	kind proxmox.Kind
}

func run(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		if err := s.do(); proxmox.KindOf(err) != s.kind || (err == nil) != (s.kind == "") {
			t.Errorf("%s: %v is of kind %q, want %q", s.name, err, proxmox.KindOf(err), s.kind)
		}
	}
}

func TestAccounts(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	admin := adminOf(t, s).Accounts()
	until := time.Unix(1900000000, 0).UTC()
	user := proxmox.User{ID: "kh-a.b@pve", Enabled: true, Comment: "Ä", Groups: []string{"team"}, Expire: until}
	token := proxmox.Token{Name: "cluster", Separated: true, Comment: "of b"}
	role := proxmox.Role{Name: "Mine", Privileges: []string{"VM.Audit", "Pool.Audit"}}
	grant := proxmox.Grant{Path: "/pool/kubehenge", Role: "Mine", Kind: proxmox.GrantToken, To: "kh-a.b@pve!cluster"}
	var secret string
	run(t, []step{
		{"user of no group", func() error { return admin.CreateUser(ctx, user) }, proxmox.NotFound},
		{"group", func() error { return admin.CreateGroup(ctx, "team", "") }, ""},
		{"group again", func() error { return admin.CreateGroup(ctx, "team", "") }, proxmox.Exists},
		{"user", func() error { return admin.CreateUser(ctx, user) }, ""},
		{"user again", func() error { return admin.CreateUser(ctx, user) }, proxmox.Exists},
		{"token", func() (err error) { secret, err = admin.CreateToken(ctx, user.ID, token); return err }, ""},
		{"token again", func() error { _, err := admin.CreateToken(ctx, user.ID, token); return err }, proxmox.Exists},
		{"token of nobody", func() error { _, err := admin.CreateToken(ctx, "nobody@pve", token); return err }, proxmox.NotFound},
		{"role", func() error { return admin.CreateRole(ctx, role) }, ""},
		{"role again", func() error { return admin.CreateRole(ctx, role) }, proxmox.Exists},
		{"role of a privilege that is none", func() error { return admin.CreateRole(ctx, proxmox.Role{Name: "x1", Privileges: []string{"VM.Fly"}}) }, proxmox.Invalid},
		{"grant", func() error { return admin.AddGrant(ctx, grant) }, ""},
		{"grant again", func() error { return admin.AddGrant(ctx, grant) }, ""},
		{"grant to nobody", func() error {
			return admin.AddGrant(ctx, proxmox.Grant{Path: "/", Role: "Mine", Kind: proxmox.GrantUser, To: "nobody@pve"})
		}, proxmox.NotFound},
	})
	if len(secret) != 36 {
		t.Errorf("secret %q", secret)
	}
	user.Tokens = []proxmox.Token{token}
	if d := cmp.Diff(user, theUser(t, admin, user.ID)); d != "" {
		t.Error(d)
	}
	grants, err := admin.Grants(ctx)
	if err != nil || !contains(grants, grant) {
		t.Errorf("grants: %v, %v", grants, err)
	}
	user.Enabled, user.Comment, user.Groups, user.Expire = false, "", nil, time.Time{}
	run(t, []step{
		{"change", func() error { return admin.SetUser(ctx, user) }, ""},
		{"fewer privileges", func() error { return admin.SetRole(ctx, proxmox.Role{Name: "Mine", Privileges: []string{"VM.Audit"}}) }, ""},
		{"take away", func() error { return admin.RemoveGrant(ctx, grant) }, ""},
		{"take away again", func() error { return admin.RemoveGrant(ctx, grant) }, ""},
	})
	if d := cmp.Diff(user, theUser(t, admin, user.ID)); d != "" {
		t.Error(d)
	}
	run(t, []step{
		{"delete token", func() error { return admin.DeleteToken(ctx, user.ID, "cluster") }, ""},
		{"delete token again", func() error { return admin.DeleteToken(ctx, user.ID, "cluster") }, proxmox.NotFound},
		{"delete user", func() error { return admin.DeleteUser(ctx, user.ID) }, ""},
		{"delete group", func() error { return admin.DeleteGroup(ctx, "team") }, ""},
		{"delete group again", func() error { return admin.DeleteGroup(ctx, "team") }, proxmox.NotFound},
		{"delete role", func() error { return admin.DeleteRole(ctx, "Mine") }, ""},
		{"delete role again", func() error { return admin.DeleteRole(ctx, "Mine") }, proxmox.NotFound},
	})
}

func theUser(t *testing.T, a proxmox.Accounts, id string) proxmox.User {
	t.Helper()
	users, err := a.Users(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		if u.ID == id {
			return u
		}
	}
	t.Fatalf("no user %s", id)
	return proxmox.User{}
}

func contains[T comparable](list []T, v T) bool {
	for _, w := range list {
		if v == w {
			return true
		}
	}
	return false
}

func TestPermissionsAreTheCallersOwn(t *testing.T) {
	s, ctx := simulator.Start(t), context.Background()
	got, err := agentOf(t, s).Accounts().Permissions(ctx, "/pool/kubehenge")
	if err != nil || !contains(got, "Pool.Allocate") || contains(got, "Permissions.Modify") {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = agentOf(t, s).Accounts().Permissions(ctx, "/access"); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestSignIn(t *testing.T) {
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	const seed = "JBSWY3DPEHPK3PXP"
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland", TFA: &simulator.TFASpec{TOTP: seed}})
	s := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv })
	ctx := context.Background()
	code := func(_ context.Context, c proxmox.Challenge) (string, error) {
		if want := (proxmox.Challenge{TOTP: true}); c != want {
			t.Errorf("challenge %+v", c)
		}
		totp, err := simulator.TOTP(seed, time.Now())
		return "totp:" + totp, err
	}
	for name, c := range map[string]struct {
		who  proxmox.Credentials
		kind proxmox.Kind
		text string
	}{
		"with a password":          {proxmox.Credentials{User: "root@pam", Password: "kubehenge"}, "", ""},
		"with a wrong password":    {proxmox.Credentials{User: "root@pam", Password: "hunter2hunter2"}, proxmox.Unauthorized, "root@pam"},
		"with a code":              {proxmox.Credentials{User: "alice@pve", Password: "wonderland", OTP: code}, "", ""},
		"with nobody for the code": {proxmox.Credentials{User: "alice@pve", Password: "wonderland"}, "none", "second factor"},
		"with a wrong code": {proxmox.Credentials{User: "alice@pve", Password: "wonderland",
			OTP: func(context.Context, proxmox.Challenge) (string, error) { return "totp:000", nil }}, proxmox.Unauthorized, "alice@pve"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := proxmox.SignIn(ctx, optionsOf(s), c.who)
			if c.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.Version(ctx); err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || c.kind != "none" && proxmox.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), c.who.Password) {
				t.Errorf("got %v", err)
			}
		})
	}
}
