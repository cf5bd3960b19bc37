package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"kubehenge.dev/agent/volumes"
)

// Options are the agent's flags. Secrets are only ever read from files.
type Options struct {
	// Kubeconfig is the management cluster's; empty inside of it.
	Kubeconfig string

	// Repository is the URL of the repository that describes the clusters, and Branch its branch.
	Repository, Branch string
	// GitUsername and GitPasswordFile sign in to it; GitCAFile holds the certificates that vouch for it.
	GitUsername, GitPasswordFile, GitCAFile string
	// GitSSHKeyFile and GitKnownHostsFile are for repositories that are reached over SSH.
	GitSSHKeyFile, GitKnownHostsFile string
	// AllowedSignersFile lists who may sign commits, as ssh-keygen -Y verify reads it; empty accepts unsigned ones.
	AllowedSignersFile string
	// AcceptRewrite is a commit that is accepted once though it does not descend from the one in force.
	AcceptRewrite string
	// Poll is the time between two looks at the repository.
	Poll time.Duration
	// NotifyListen is where signed nudges are taken; empty takes none. NotifyKeyFile holds their HMAC key.
	NotifyListen, NotifyKeyFile string

	// ProxmoxURL, ProxmoxTokenID, ProxmoxTokenFile and ProxmoxCAFile say where Proxmox VE is and as whom to ask it.
	ProxmoxURL, ProxmoxTokenID, ProxmoxTokenFile, ProxmoxCAFile string
	// ProxmoxHATokenID and ProxmoxHATokenFile are the token for Proxmox VE's HA manager; empty where HA is not used.
	ProxmoxHATokenID, ProxmoxHATokenFile string
	// VolumesEvery is the time between two looks at the PersistentVolumes of clusters that have volumes.
	VolumesEvery time.Duration

	// Hooks say where Cluster API's questions are answered.
	Hooks HooksOptions
	// Corner says what clusters are told about Proxmox VE.
	Corner CornerOptions

	// ScaleProviders runs the providers of a distribution only while a cluster uses it.
	ScaleProviders bool

	// MetricsListen and HealthListen are addresses for Prometheus and for probes; empty or 0 listens nowhere.
	MetricsListen, HealthListen string
	// LeaderElect lets one of several agents work.
	LeaderElect bool
	// DataDir keeps the clone of the repository between restarts; empty keeps it in memory.
	DataDir string
	// LogFormat is text or json.
	LogFormat string
}

// Command is the verb "agent".
func Command() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Keep the management cluster as the repository describes it",
		Long: `The agent fetches the repository, verifies and renders it, applies the clusters to the management
cluster, and says in one sentence at each claim what is being waited for.

It needs the management cluster's API, the repository (read only) and a Proxmox VE API token of its own. Secrets
are read from files, never from flags or the environment, and read again whenever they are used.`,
		Example: `  # inside the management cluster
  kubehenge agent --repository https://git.example.org/fleet.git --git-username agent \
    --git-password-file /etc/kubehenge/git/password --allowed-signers-file /etc/kubehenge/signers/allowed_signers \
    --proxmox-url https://pve1.example.org:8006/api2/json --proxmox-token-id 'kubehenge-agent@pve!agent' \
    --proxmox-token-file /etc/kubehenge/proxmox/token --proxmox-ca-file /etc/kubehenge/proxmox/ca.pem --leader-elect

  # a repository over SSH
  kubehenge agent --repository ssh://git@git.example.org/fleet.git --git-ssh-key-file /etc/kubehenge/git/id_ed25519 \
    --git-known-hosts-file /etc/kubehenge/git/known_hosts --proxmox-url https://pve1.example.org:8006 \
    --proxmox-token-id 'kubehenge-agent@pve!agent' --proxmox-token-file /etc/kubehenge/proxmox/token --leader-elect

  # on one's own machine, with a repository in the next folder
  kubehenge agent --kubeconfig management.kubeconfig --repository ../fleet --log-format text \
    --proxmox-url https://pve1.example.org:8006 --proxmox-token-id 'kubehenge-agent@pve!agent' --proxmox-token-file token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return Run(cmd.Context(), o, cmd.ErrOrStderr())
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *Options) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster; inside of it none is needed")
	f.StringVar(&o.Repository, "repository", "", "URL or path of the repository that describes the clusters (required)")
	f.StringVar(&o.Branch, "branch", "main", "branch to follow")
	f.StringVar(&o.GitUsername, "git-username", "", "user name for the repository")
	f.StringVar(&o.GitPasswordFile, "git-password-file", "", "file with the password or token for the repository")
	f.StringVar(&o.GitCAFile, "git-ca-file", "", "PEM certificates that vouch for the repository's server (default: the system's)")
	f.StringVar(&o.GitSSHKeyFile, "git-ssh-key-file", "", "private key in OpenSSH's format, without passphrase, for a repository over SSH")
	f.StringVar(&o.GitKnownHostsFile, "git-known-hosts-file", "", "host keys that are accepted over SSH, as in ~/.ssh/known_hosts")
	f.StringVar(&o.AllowedSignersFile, "allowed-signers-file", "", "OpenSSH allowed_signers file; with it a tip must be signed (default: unsigned commits are accepted)")
	f.StringVar(&o.AcceptRewrite, "accept-rewrite", "", "commit to accept once though its history was rewritten")
	f.DurationVar(&o.Poll, "poll", time.Minute, "time between two looks at the repository")
	f.StringVar(&o.NotifyListen, "notify-listen", "", "address for signed nudges, such as 127.0.0.1:9292 (default: none)")
	f.StringVar(&o.NotifyKeyFile, "notify-key-file", "", "file with the HMAC-SHA256 key of nudges, 16 bytes at least")
	f.StringVar(&o.ProxmoxURL, "proxmox-url", "", "URL of Proxmox VE, such as https://pve1.example.org:8006/api2/json (required)")
	f.StringVar(&o.ProxmoxTokenID, "proxmox-token-id", "", "ID of the API token, user@realm!name (required)")
	f.StringVar(&o.ProxmoxTokenFile, "proxmox-token-file", "", "file with the API token's secret (required)")
	f.StringVar(&o.ProxmoxHATokenID, "proxmox-ha-token-id", "", "ID of the API token for the HA manager (default: none, and no HA)")
	f.StringVar(&o.ProxmoxHATokenFile, "proxmox-ha-token-file", "", "file with that token's secret")
	f.DurationVar(&o.VolumesEvery, "volumes-every", volumes.DefaultEvery, "time between two looks for released volumes in clusters")
	f.StringVar(&o.ProxmoxCAFile, "proxmox-ca-file", "", "PEM certificates that vouch for Proxmox VE (default: the system's)")
	o.Hooks.flags(f)
	f.BoolVar(&o.ScaleProviders, "scale-providers", false, "run the bootstrap and control-plane providers of a distribution only while a cluster uses it")
	o.Corner.flags(f)
	f.StringVar(&o.MetricsListen, "metrics-listen", "127.0.0.1:8080", "address for Prometheus; 0 for none")
	f.StringVar(&o.HealthListen, "health-listen", "127.0.0.1:8081", "address for /healthz and /readyz; 0 for none")
	f.BoolVar(&o.LeaderElect, "leader-elect", false, "let one of several agents work")
	f.StringVar(&o.DataDir, "data-dir", "", "folder for the clone of the repository (default: in memory)")
	f.StringVar(&o.LogFormat, "log-format", "json", "json or text")
}

// check says what is missing or wrong, all of it at once.
func (o *Options) check() error {
	var errs []error
	for flag, value := range map[string]string{
		"repository": o.Repository, "proxmox-url": o.ProxmoxURL, "proxmox-token-id": o.ProxmoxTokenID, "proxmox-token-file": o.ProxmoxTokenFile,
	} {
		if value == "" {
			errs = append(errs, fmt.Errorf("--%s is missing", flag))
		}
	}
	if (o.GitSSHKeyFile == "") != (o.GitKnownHostsFile == "") {
		errs = append(errs, errors.New("--git-ssh-key-file and --git-known-hosts-file go together: over SSH the server is known by its host key"))
	}
	if o.NotifyListen != "" && o.NotifyKeyFile == "" {
		errs = append(errs, errors.New("--notify-listen needs --notify-key-file: nudges are signed"))
	}
	if (o.ProxmoxHATokenID == "") != (o.ProxmoxHATokenFile == "") {
		errs = append(errs, errors.New("--proxmox-ha-token-id and --proxmox-ha-token-file go together"))
	}
	if o.LogFormat != "json" && o.LogFormat != "text" {
		errs = append(errs, fmt.Errorf("--log-format is %q; it may be json or text", o.LogFormat))
	}
	if o.Poll < time.Second {
		errs = append(errs, fmt.Errorf("--poll is %s; at least 1s", o.Poll))
	}
	return errors.Join(append(errs, o.Hooks.check(), o.Corner.check())...)
}
