package proxmox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	pve "kubehenge.dev/proxmox"
)

// signIn are the flags by which an administrator says where Proxmox VE is and who they are.
type signIn struct {
	url, caFile        string
	user, passwordFile string
	tokenID, tokenFile string
}

func (s *signIn) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "url", "", "address of Proxmox VE, such as https://pve1.example.org:8006")
	f.StringVar(&s.caFile, "ca-file", "", "certificates that vouch for it, such as a copy of /etc/pve/pve-root-ca.pem of a node (default: the system's)")
	f.StringVar(&s.user, "user", "root@pam", "administrator to sign in as")
	f.StringVar(&s.passwordFile, "password-file", "", "file with the administrator's password (default: it is asked for)")
	f.StringVar(&s.tokenID, "token-id", "", "an administrator's API token, instead of a password")
	f.StringVar(&s.tokenFile, "token-file", "", "file with that token's secret")
}

// given tells whether somebody said who they are.
func (s *signIn) given(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("user") || s.passwordFile != "" || s.tokenID != ""
}

func (s *signIn) check() error {
	switch {
	case s.url == "":
		return errors.New("say with --url where Proxmox VE is")
	case (s.tokenID == "") != (s.tokenFile == ""):
		return errors.New("--token-id and --token-file belong together")
	case s.tokenID != "" && s.passwordFile != "":
		return errors.New("either a password or a token signs in, not both")
	}
	return nil
}

func (s *signIn) options() (pve.Options, error) {
	o := pve.Options{URL: s.url}
	if s.caFile != "" {
		raw, err := os.ReadFile(s.caFile)
		if err != nil {
			return o, fmt.Errorf("read the CA: %w", err)
		}
		o.CA = raw
	}
	return o, nil
}

// asker asks a person for something that is not shown while they type.
type asker func(ctx context.Context, prompt string) (string, error)

// admin is a client with the administrator's rights.
func (s *signIn) admin(ctx context.Context, ask asker) (*pve.Client, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	if s.tokenID != "" {
		o.TokenID, o.TokenFile = s.tokenID, s.tokenFile
		return pve.Connect(o)
	}
	password, err := s.password(ctx, ask)
	if err != nil {
		return nil, err
	}
	client, err := pve.SignIn(ctx, o, pve.Credentials{User: s.user, Password: password, OTP: func(ctx context.Context, c pve.Challenge) (string, error) {
		return secondFactor(ctx, s.user, c, ask)
	}})
	if pve.Is(err, pve.Untrusted) {
		err = fmt.Errorf("%w; give the CA of Proxmox VE with --ca-file, a copy of /etc/pve/pve-root-ca.pem of any node", err)
	}
	return client, err
}

func (s *signIn) password(ctx context.Context, ask asker) (string, error) {
	if s.passwordFile == "" {
		return ask(ctx, "Password of "+s.user+": ")
	}
	raw, err := os.ReadFile(s.passwordFile)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

// secondFactor asks for a code of the kind that is wanted; recovery:KEY answers with a recovery key.
func secondFactor(ctx context.Context, user string, c pve.Challenge, ask asker) (string, error) {
	kinds := []struct {
		open       bool
		kind, name string
	}{{c.TOTP, "totp", "code of the authenticator app"}, {c.Yubico, "yubico", "one-time password of the Yubico key"}, {c.Recovery, "recovery", "recovery key"}}
	for _, k := range kinds {
		if !k.open {
			continue
		}
		answer, err := ask(ctx, "Second factor of "+user+" ("+k.name+"): ")
		answer = strings.TrimSpace(answer)
		if err != nil || strings.HasPrefix(answer, "recovery:") {
			return answer, err
		}
		return k.kind + ":" + answer, nil
	}
	return "", errors.New("Proxmox VE wants a security key, which only a browser can ask: sign in with an API token instead (--token-id, --token-file)")
}

// askAtTerminal asks at the terminal that the program was started from, whatever its input and output are. An
// interruption leaves the terminal as it was.
func askAtTerminal(ctx context.Context, prompt string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", errors.New("there is no terminal to ask at: give --password-file, or --token-id and --token-file")
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		return "", fmt.Errorf("ask at the terminal: %w", errors.Join(err, tty.Close()))
	}
	fmt.Fprint(tty, prompt)
	type reply struct {
		text []byte
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := term.ReadPassword(int(tty.Fd()))
		replies <- reply{text, err}
	}()
	select {
	case <-ctx.Done(): // the read goes on until the program ends, which is now
		return "", errors.Join(errInterrupted, term.Restore(int(tty.Fd()), before))
	case r := <-replies:
		fmt.Fprintln(tty)
		if err := errors.Join(r.err, tty.Close()); err != nil {
			return "", fmt.Errorf("ask at the terminal: %w", err)
		}
		return string(r.text), nil
	}
}
