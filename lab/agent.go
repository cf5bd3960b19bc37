package lab

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"time"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/process"
)

// Agent is the name of the agent's process.
const Agent = "agent"

const (
	agentHealthPort  = 9480
	agentMetricsPort = 9481
	agentNotifyPort  = 9482
)

// MetricsURL is where the agent serves its metrics.
func (l *Lab) MetricsURL() string { return "http://" + l.on(agentMetricsPort) + "/metrics" }

// startAgent starts the agent as in an installation: with the rights of its account, and every secret in a file.
func (l *Lab) startAgent(ctx context.Context) error {
	kubeconfig, err := l.pki.ServiceAccountKubeconfig(Agent, v1alpha1.SystemNamespace, "kubehenge-agent")
	if err != nil {
		return err
	}
	token, err := l.tokenFile(AgentToken)
	if err != nil {
		return err
	}
	args := []string{
		"agent", "--kubeconfig=" + kubeconfig, "--log-format=text", "--data-dir=" + l.path("agent"),
		"--repository=" + l.RepositoryURL(), "--git-username=" + gitUser,
		"--git-password-file=" + l.gitPasswordFile(), "--git-ca-file=" + l.GitCA(), "--poll=10s",
		"--proxmox-url=" + l.Proxmox.URL(), "--proxmox-token-id=" + AgentToken,
		"--proxmox-token-file=" + token, "--proxmox-ca-file=" + l.proxmoxCA(),
		"--notify-listen=" + l.on(agentNotifyPort), "--notify-key-file=" + l.notifyKeyFile(),
		"--health-listen=" + l.on(agentHealthPort), "--metrics-listen=" + l.on(agentMetricsPort),
	}
	signers, err := l.allowedSigners()
	if err != nil {
		return err
	}
	return l.Processes.Start(ctx, process.Spec{
		Name:  Agent,
		Path:  l.programs.Binaries[build.Kubehenge],
		Args:  append(append(args, signers...), l.options.AgentArgs...),
		Ready: process.HTTP(http.DefaultClient, "http://"+l.on(agentHealthPort)+"/readyz"),
	})
}

// allowedSigners has the agent accept only what the lab's signer signs, if there is one.
func (l *Lab) allowedSigners() ([]string, error) {
	if l.options.Signer == nil {
		return nil, nil
	}
	path := l.path("run", "allowed_signers")
	line := author.Email + " " + string(ssh.MarshalAuthorizedKey(l.options.Signer.PublicKey()))
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		return nil, fmt.Errorf("write the allowed signers: %w", err)
	}
	return []string{"--allowed-signers-file=" + path}, nil
}

func (l *Lab) notifyKeyFile() string { return l.path("run", "notify-key") }

func (l *Lab) makeNotifyKey() error {
	l.notifyKey = []byte(rand.Text())
	if err := os.WriteFile(l.notifyKeyFile(), l.notifyKey, 0o600); err != nil {
		return fmt.Errorf("write the notify key: %w", err)
	}
	return nil
}

// nudge tells the agent that there is something to fetch. One that does not arrive is no harm: the agent polls.
func (l *Lab) nudge() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	body := []byte("{}")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.on(agentNotifyPort)+"/", bytes.NewReader(body))
	if err != nil {
		return
	}
	mac := hmac.New(sha256.New, l.notifyKey)
	mac.Write(body)
	request.Header.Set(source.SignatureHeader, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
	}
}
