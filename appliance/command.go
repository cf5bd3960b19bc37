package appliance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/proxmox"
)

// flags are those of the verb "serve". Secrets are only ever read from files.
type flags struct {
	listen, certFile, keyFile      string
	caFile, kubeconfig             string
	notifyURLs                     []string
	notifyKeyFile                  string
	options                        Options
	proxmoxURL, tokenID, tokenFile string
}

// Command is the verb "serve".
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the appliance: sign-in, commits and the Git server",
		Long: `Serve signs people in with their Proxmox VE account, turns what they ask for into signed commits in their name, and serves the
repository at /git/fleet.git, where every push is judged by the same rules. It makes its repository, its signing key and its audit log in the
data folder at its first start, and prints the line that the agent's list of allowed signers needs.

Browsers keep a session only over HTTPS. Without a certificate it listens on a loopback address alone, for a proxy that has one.`,
		Example: `  kubehenge serve --proxmox-url https://pve1.example.org:8006 --proxmox-ca-file /etc/kubehenge/pve-ca.pem \
    --data-dir /var/lib/kubehenge --listen :443 --tls-cert-file cert.pem --tls-key-file key.pem \
    --public-url https://kubehenge.example.org`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.bind(cmd)
	return cmd
}

func (f *flags) bind(cmd *cobra.Command) {
	flag := cmd.Flags()
	flag.StringVar(&f.listen, "listen", "127.0.0.1:8443", "address to listen on")
	flag.StringVar(&f.certFile, "tls-cert-file", "", "certificate with its chain, in PEM; read again for each connection")
	flag.StringVar(&f.keyFile, "tls-key-file", "", "the certificate's key, in PEM")
	flag.StringVar(&f.options.PublicURL, "public-url", "", "where browsers reach the appliance, such as https://kubehenge.example.org")
	flag.StringVar(&f.options.DataDir, "data-dir", "", "folder of the repository, the signing key and the audit log")
	flag.DurationVar(&f.options.Lifetime, "session-lifetime", signin.DefaultLifetime, "when a session ends, however active it is")
	flag.StringVar(&f.options.ReaderTokenFile, "agent-token-file", "", "file with the token by which the agent reads the repository, as the user agent; at least 16 characters")
	flag.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of an account that may read the management cluster (default: the cluster that this runs in, or none)")
	flag.StringVar(&f.proxmoxURL, "proxmox-url", "", "Proxmox VE's address, such as https://pve1.example.org:8006")
	flag.StringVar(&f.caFile, "proxmox-ca-file", "", "certificates in PEM that vouch for Proxmox VE (default: the system's)")
	flag.StringVar(&f.tokenID, "proxmox-token-id", "", "the appliance's own API token, which may list pools and VNets; without it lists cost more calls")
	flag.StringVar(&f.tokenFile, "proxmox-token-file", "", "file with that token's secret")
	flag.StringArrayVar(&f.notifyURLs, "notify-url", nil, "where an agent takes nudges, once for each replica; none leaves them to their poll")
	flag.StringVar(&f.notifyKeyFile, "notify-key-file", "", "file with the nudges' HMAC key")
	f.options.Mirror.bind(flag)
	for _, name := range []string{"data-dir", "proxmox-url"} {
		_ = cmd.MarkFlagRequired(name) // it is defined above
	}
}

func (f *flags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	f.options.Proxmox = proxmox.Options{URL: f.proxmoxURL, TokenID: f.tokenID, TokenFile: f.tokenFile}
	if f.caFile != "" {
		ca, err := os.ReadFile(f.caFile)
		if err != nil {
			return fmt.Errorf("read the certificates of Proxmox VE: %w", err)
		}
		f.options.Proxmox.CA = ca
	}
	var err error
	if f.options.Management, err = live.Connect(f.kubeconfig); err != nil {
		return err
	}
	f.options.Moved = nudgeAll(f.notifyURLs, f.notifyKeyFile)
	s, err := New(cmd.Context(), f.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Fprintf(cmd.OutOrStdout(), "allowed signer: %s\n", s.SigningKey())
	return f.serve(cmd.Context(), cmd, s)
}

// check refuses to send sessions and passwords through a network in the clear.
func (f *flags) check() error {
	if (f.certFile == "") != (f.keyFile == "") {
		return errors.New("--tls-cert-file and --tls-key-file belong together")
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return fmt.Errorf("listen on %q: %w", f.listen, err)
	}
	at, err := netip.ParseAddr(host)
	if f.certFile == "" && host != "localhost" && (err != nil || !at.IsLoopback()) {
		return fmt.Errorf("listen on %q: without --tls-cert-file only a loopback address will do, since passwords come in", f.listen)
	}
	return nil
}

func (f *flags) serve(ctx context.Context, cmd *cobra.Command, s *Server) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.listen, err)
	}
	scheme := "http"
	if f.certFile != "" {
		scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: f.certificate, NextProtos: []string{"h2", "http/1.1"}})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "listening: %s://%s\n", scheme, listener.Addr())
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug)}
	go s.Run(ctx)
	stopped := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(end) // what still runs after that is cut off
	})
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// certificate is read for each connection, so that a renewed one is used at once.
func (f *flags) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &c, nil
}
