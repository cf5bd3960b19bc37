package lab

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/git"
	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/pki"
	"kubehenge.dev/lab/process"
)

// Appliance is the name of the appliance's process.
const Appliance = "appliance"

// PageURL is where people sign in; the repository is below it.
func (l *Lab) PageURL() string { return "https://" + l.Git() }

// startAppliance starts the appliance as in an installation, with its own token of Proxmox VE and every secret in a file,
// and makes the first commit as the administrator.
func (l *Lab) startAppliance(ctx context.Context) error {
	if err := os.WriteFile(l.gitPasswordFile(), []byte(rand.Text()), 0o600); err != nil {
		return fmt.Errorf("write the agent's token for the repository: %w", err)
	}
	args, err := l.applianceArgs()
	if err != nil {
		return err
	}
	if err := l.Processes.Start(ctx, process.Spec{
		Name:  Appliance,
		Path:  l.programs.Binaries[build.Kubehenge],
		Args:  args,
		Ready: process.HTTP(l.pageClient(), l.PageURL()+"/api/realms"),
	}); err != nil {
		return err
	}
	return l.fillRepository(ctx)
}

func (l *Lab) applianceArgs() ([]string, error) {
	token, err := l.tokenFile(ApplianceToken)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := l.pki.ServiceAccountKubeconfig(Appliance, v1alpha1.SystemNamespace, "kubehenge-appliance")
	if err != nil {
		return nil, err
	}
	args := []string{
		"serve", "--kubeconfig=" + kubeconfig, "--data-dir=" + l.path(Appliance),
		"--listen=" + l.Git(), "--public-url=" + l.PageURL(),
		"--tls-cert-file=" + l.pki.Cert(pki.Git), "--tls-key-file=" + l.pki.Key(pki.Git),
		"--proxmox-url=" + l.Proxmox.URL(), "--proxmox-ca-file=" + l.proxmoxCA(),
		"--proxmox-token-id=" + ApplianceToken, "--proxmox-token-file=" + token,
		"--agent-token-file=" + l.gitPasswordFile(), "--notify-key-file=" + l.notifyKeyFile(),
	}
	for i := range l.options.Agents {
		args = append(args, "--notify-url=http://"+l.agentOn(i, agentNotifyPort)+"/")
	}
	return append(args, l.options.ApplianceArgs...), nil
}

// pageClient trusts the lab's CA.
func (l *Lab) pageClient() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.pki.CA())
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

// applianceSigner is the line of the appliance's key for the agent's allowed signers, as the appliance printed it.
func (l *Lab) applianceSigner() (string, error) {
	content, err := os.ReadFile(l.path(Appliance, "signing-key"))
	if err != nil {
		return "", fmt.Errorf("read the appliance's key: %w", err)
	}
	signer, err := git.ParseSigner(content)
	if err != nil {
		return "", fmt.Errorf("read the appliance's key: %w", err)
	}
	return "appliance " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) + "\n", nil
}

// repositoryReader is the user as which the agent reads the repository.
func (l *Lab) repositoryReader() string {
	if l.options.WithoutAppliance {
		return plainUser
	}
	return githttp.ReaderUser
}
