package capmox

import (
	"errors"
	"fmt"
	"os"

	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/pace"
	"kubehenge.dev/lab/capmox/session"
)

// Options say where the stand-in finds its cluster and its Proxmox VE.
type Options struct {
	// Kubeconfig is the management cluster's; empty: as kubectl finds it.
	Kubeconfig string
	// WebhookHost is the address the webhooks listen on. Default 127.0.0.1.
	WebhookHost string
	// WebhookPort is their port. Default 9443, capmox's.
	WebhookPort int
	// WebhookCertDir holds tls.crt and tls.key. Empty: no webhooks.
	WebhookCertDir string
	// HealthAddr is where /healthz and /readyz are served, without TLS; empty or "0": nowhere.
	HealthAddr string
	// ProxmoxURL, ProxmoxToken and ProxmoxSecret are one set of credentials for all clusters, whose own are
	// then ignored. With one of them missing each cluster needs credentialsRef.
	ProxmoxURL, ProxmoxToken, ProxmoxSecret string
	// ProxmoxRoots is a file of certificates to trust besides the system's.
	ProxmoxRoots string
	// ProxmoxInsecure does not verify Proxmox VE's certificate.
	ProxmoxInsecure bool
	// Pace multiplies all waits. Default 1, capmox's own pace.
	Pace pace.Pace
}

// FromEnvironment fills in what capmox reads from its environment: PROXMOX_URL, PROXMOX_TOKEN, PROXMOX_SECRET
// and PROXMOX_INSECURE. Unlike capmox, which is insecure by default, it verifies as soon as there is a file of roots.
func (o Options) FromEnvironment(getenv func(string) string) Options {
	o.ProxmoxURL, o.ProxmoxToken, o.ProxmoxSecret = getenv("PROXMOX_URL"), getenv("PROXMOX_TOKEN"), getenv("PROXMOX_SECRET")
	switch getenv("PROXMOX_INSECURE") {
	case "true":
		o.ProxmoxInsecure = true
	case "":
		o.ProxmoxInsecure = o.ProxmoxRoots == ""
	default:
		o.ProxmoxInsecure = false
	}
	return o
}

func (o Options) defaulted() (Options, error) {
	if o.WebhookHost == "" {
		o.WebhookHost = "127.0.0.1"
	}
	if o.WebhookPort == 0 {
		o.WebhookPort = 9443
	}
	if o.HealthAddr == "" {
		o.HealthAddr = "0"
	}
	if o.Pace == 0 {
		o.Pace = 1
	}
	if o.Pace < 0 {
		return o, errors.New("pace: must not be negative")
	}
	return o, nil
}

// global says whether there is one set of credentials for all clusters.
func (o Options) global() bool {
	return o.ProxmoxURL != "" && o.ProxmoxToken != "" && o.ProxmoxSecret != ""
}

func (o Options) credentials() (calls.Credentials, error) {
	c := calls.Credentials{URL: o.ProxmoxURL, Token: o.ProxmoxToken, Secret: o.ProxmoxSecret, Insecure: o.ProxmoxInsecure}
	if o.ProxmoxRoots == "" {
		return c, nil
	}
	pem, err := os.ReadFile(o.ProxmoxRoots)
	if err != nil {
		return c, fmt.Errorf("read the certificates to trust: %w", err)
	}
	if c.Roots, err = session.Roots(pem); err != nil {
		return c, fmt.Errorf("certificates to trust in %s: %w", o.ProxmoxRoots, err)
	}
	return c, nil
}
