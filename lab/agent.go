package lab

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/process"
)

// Agent is the name of the agent's process; further replicas are agent-2 and so on.
const Agent = "agent"

// The ports of the first replica; each further one has its own, agentPorts later.
const (
	agentHealthPort  = 9480
	agentMetricsPort = 9481
	agentNotifyPort  = 9482
	agentHooksPort   = 9483
	agentPorts       = 20
	// hooksPort leads to the hooks of all replicas.
	hooksPort = 9479
)

// AgentName is the process of a replica, counted from 0.
func AgentName(replica int) string {
	if replica == 0 {
		return Agent
	}
	return fmt.Sprintf("%s-%d", Agent, replica+1)
}

// agentOn is where a replica listens.
func (l *Lab) agentOn(replica, port int) string { return l.on(port + replica*agentPorts) }

// MetricsURL is where the first agent serves its metrics.
func (l *Lab) MetricsURL() string { return "http://" + l.on(agentMetricsPort) + "/metrics" }

// HooksURL is where Cluster API reaches the hooks.
func (l *Lab) HooksURL() string { return "https://" + l.on(hooksPort) }

// RenewHooksCertificate gives the hooks a certificate of another CA, as a rotation does.
func (l *Lab) RenewHooksCertificate() error { return l.pki.RenewHooks(net.ParseIP(l.Services())) }

// serveHooks stands in for the Service in front of the agents' hooks.
func (l *Lab) serveHooks(context.Context) error {
	var backends []string
	for i := range l.options.Agents {
		backends = append(backends, l.agentOn(i, agentHooksPort))
	}
	balancer, err := newBalancer(l.on(hooksPort), backends)
	if err != nil {
		return err
	}
	l.Hooks = balancer
	l.onStop(balancer.close)
	return nil
}

// startAgent starts the agent's replicas as in an installation: with the rights of its account, and every secret in a
// file.
func (l *Lab) startAgent(ctx context.Context) error {
	if err := l.serveHooks(ctx); err != nil {
		return err
	}
	args, err := l.agentArgs()
	if err != nil {
		return err
	}
	var specs []process.Spec
	for i := range l.options.Agents {
		specs = append(specs, l.agent(i, args))
	}
	return l.Processes.Start(ctx, specs...)
}

// agentArgs are those that all replicas share.
func (l *Lab) agentArgs() ([]string, error) {
	kubeconfig, err := l.pki.ServiceAccountKubeconfig(Agent, v1alpha1.SystemNamespace, "kubehenge-agent")
	if err != nil {
		return nil, err
	}
	token, err := l.tokenFile(AgentToken)
	if err != nil {
		return nil, err
	}
	haToken, err := l.tokenFile(HAToken)
	if err != nil {
		return nil, err
	}
	signers, err := l.allowedSigners()
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"agent", "--kubeconfig=" + kubeconfig, "--log-format=text",
		"--repository=" + l.RepositoryURL(), "--git-username=" + l.repositoryReader(),
		"--git-password-file=" + l.gitPasswordFile(), "--git-ca-file=" + l.GitCA(), "--poll=10s",
		"--proxmox-url=" + l.Proxmox.URL(), "--proxmox-token-id=" + AgentToken,
		"--proxmox-token-file=" + token, "--proxmox-ca-file=" + l.proxmoxCA(),
		"--proxmox-ha-token-id=" + HAToken, "--proxmox-ha-token-file=" + haToken,
		"--notify-key-file=" + l.notifyKeyFile(),
	}, signers...)
	if l.options.Agents > 1 {
		args = append(args, "--leader-elect")
	}
	if !l.options.WithoutClusterAPI { // nobody would find them
		args = append(args, "--hooks-cert-dir="+l.pki.Hooks(), "--hooks-url="+l.HooksURL(), "--scale-providers")
	}
	return append(args, l.options.AgentArgs...), nil
}

func (l *Lab) agent(replica int, shared []string) process.Spec {
	name := AgentName(replica)
	args := append(slices.Clone(shared),
		"--data-dir="+l.path(name), "--notify-listen="+l.agentOn(replica, agentNotifyPort),
		"--health-listen="+l.agentOn(replica, agentHealthPort), "--metrics-listen="+l.agentOn(replica, agentMetricsPort))
	if !l.options.WithoutClusterAPI {
		args = append(args, "--hooks-listen="+l.agentOn(replica, agentHooksPort))
	}
	return process.Spec{
		Name:  name,
		Path:  l.programs.Binaries[build.Kubehenge],
		Args:  args,
		Ready: process.HTTP(http.DefaultClient, "http://"+l.agentOn(replica, agentHealthPort)+"/readyz"),
	}
}

// allowedSigners has the agent accept only what the appliance signs or vouches for, and what the lab's signer signs, if
// there are such.
func (l *Lab) allowedSigners() ([]string, error) {
	lines := ""
	if l.options.Signer != nil {
		lines = author.Email + " " + string(ssh.MarshalAuthorizedKey(l.options.Signer.PublicKey()))
	}
	if !l.options.WithoutAppliance {
		line, err := l.applianceSigner()
		if err != nil {
			return nil, err
		}
		lines += line
	}
	if lines == "" {
		return nil, nil
	}
	path := l.path("run", "allowed_signers")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		return nil, fmt.Errorf("write the allowed signers: %w", err)
	}
	return []string{"--allowed-signers-file=" + path}, nil
}

// gitPasswordFile holds what the agent reads the repository with.
func (l *Lab) gitPasswordFile() string { return l.path("run", "git-password") }

func (l *Lab) notifyKeyFile() string { return l.path("run", "notify-key") }

func (l *Lab) makeNotifyKey() error {
	l.notifyKey = []byte(rand.Text())
	if err := os.WriteFile(l.notifyKeyFile(), l.notifyKey, 0o600); err != nil {
		return fmt.Errorf("write the notify key: %w", err)
	}
	return nil
}

// nudge tells every replica that there is something to fetch; the one that leads fetches. One that does not arrive is
// no harm: the agent polls.
func (l *Lab) nudge() {
	for i := range l.options.Agents {
		l.nudgeReplica(i)
	}
}

func (l *Lab) nudgeReplica(replica int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	body := []byte("{}")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.agentOn(replica, agentNotifyPort)+"/", bytes.NewReader(body))
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
