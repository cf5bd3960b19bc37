package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kubehenge.dev/appliance/client"
	"kubehenge.dev/appliance/wire"
)

// signIn are the flags of "login".
type signIn struct {
	user, passwordFile, caFile string
	factor                     string
}

func login(t *terms) *cobra.Command {
	var s signIn
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Sign in to the appliance with your Proxmox VE account",
		Long: `Sign in to the appliance with your Proxmox VE account. The password is asked for at the terminal, and a second factor where the
account has one. The session is kept in a file that only you may read, until it ends; the password is kept nowhere.

An account of an OpenID realm signs in with a browser only.`,
		Example: `  kubehenge login https://kubehenge.example.org
  kubehenge login https://kubehenge.example.org --user alice@pve --password-file ~/.secrets/pve --ca-file ca.pem`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, t, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&s.user, "user", "", "user to sign in as, such as alice@pve (default: it is asked for)")
	f.StringVar(&s.passwordFile, "password-file", "", "file with the password (default: it is asked for)")
	f.StringVar(&s.caFile, "ca-file", "", "certificates in PEM that vouch for the appliance (default: the system's)")
	f.StringVar(&s.factor, "factor", "", "second factor to use where there are several: totp, yubico or recovery")
	return cmd
}

func (s *signIn) run(cmd *cobra.Command, t *terms, url string) error {
	file, err := t.file()
	if err != nil {
		return err
	}
	kept := client.Session{URL: url}
	if s.caFile != "" {
		ca, err := os.ReadFile(s.caFile)
		if err != nil {
			return fmt.Errorf("read the CA file: %w", err)
		}
		kept.CA = string(ca)
	}
	c, err := client.New(kept)
	if err != nil {
		return usageError{err}
	}
	who, err := s.who(cmd.Context(), t.ask)
	if err != nil {
		return err
	}
	if err := s.enter(cmd.Context(), t.ask, c, who); err != nil {
		return err
	}
	kept = c.Session()
	if err := kept.Save(file); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Signed in to %s as %s until %s.\n", kept.URL, kept.User, kept.Ends.Local().Format("15:04"))
	return nil
}

// who asks for what the flags do not give.
func (s *signIn) who(ctx context.Context, ask asker) (who wire.SignIn, err error) {
	if who.User = s.user; who.User == "" {
		if who.User, err = ask(ctx, "User (such as alice@pve): ", false); err != nil {
			return who, err
		}
	}
	if !strings.Contains(who.User, "@") {
		return who, usage("%q names no realm; write it as user@realm, such as %s@pve", who.User, who.User)
	}
	if s.passwordFile == "" {
		who.Password, err = ask(ctx, "Password of "+who.User+": ", true)
		return who, err
	}
	password, err := os.ReadFile(s.passwordFile)
	if err != nil {
		return who, fmt.Errorf("read the password: %w", err)
	}
	who.Password = strings.TrimRight(string(password), "\r\n")
	return who, nil
}

// enter signs in, with a second factor where one is wanted.
func (s *signIn) enter(ctx context.Context, ask asker, c *client.Client, who wire.SignIn) error {
	err := c.SignIn(ctx, who)
	wanted := (*client.Error)(nil)
	if !errors.As(err, &wanted) || wanted.Status != http.StatusUnauthorized || wanted.Factors == nil {
		return err
	}
	if who.Factor, err = s.choose(*wanted.Factors); err != nil {
		return err
	}
	if who.Code, err = ask(ctx, "Second factor of "+who.User+" ("+factors[who.Factor]+"): ", true); err != nil {
		return err
	}
	who.Code = strings.TrimSpace(who.Code)
	return c.SignIn(ctx, who)
}

// factors are what people know the kinds of second factors as.
var factors = map[string]string{"totp": "code of the authenticator app", "yubico": "one-time password of the Yubico key", "recovery": "recovery key"}

func (s *signIn) choose(open wire.Factors) (string, error) {
	for _, kind := range []struct {
		name string
		open bool
	}{{"totp", open.TOTP}, {"yubico", open.Yubico}, {"recovery", open.Recovery}} {
		if kind.open && (s.factor == "" || s.factor == kind.name) {
			return kind.name, nil
		}
	}
	if s.factor != "" {
		return "", usage("the account has no second factor %q", s.factor)
	}
	return "", errors.New("the account wants a security key, which only Proxmox VE's own page can ask for; take another factor, or an OpenID realm on the appliance's page")
}

func logout(t *terms) *cobra.Command {
	return &cobra.Command{
		Use:     "logout",
		Short:   "End the session with the appliance",
		Long:    "End the session with the appliance and forget it. Without a session nothing happens.",
		Example: "  kubehenge logout",
		Args:    args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := t.file()
			if err != nil {
				return err
			}
			c, err := t.connect()
			if errors.Is(err, client.ErrSignedOut) {
				return client.Forget(file)
			}
			if err != nil {
				return err
			}
			if err := c.SignOut(cmd.Context()); err != nil && client.StatusOf(err) != http.StatusUnauthorized {
				return err
			}
			return client.Forget(file)
		},
	}
}
