package pki

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Folder holds a lab's certificates, keys and kubeconfigs as files.
type Folder struct {
	dir    string
	ca     *Authority
	server string
}

// The servers' names, as file names without extension.
const (
	Etcd      = "etcd"      // etcd's serving and peer certificate
	APIServer = "apiserver" // kube-apiserver's serving certificate
	EtcdUser  = "etcd-user" // kube-apiserver's certificate as etcd's client
	Git       = "git"       // the git server's serving certificate
	caFile    = "ca.crt"    // the CA's certificate
	saKey     = "sa.key"    // signs ServiceAccount tokens
	saPub     = "sa.pub"    // checks them
	webhooks  = "webhooks"  // the folder of the webhooks' serving certificate
	hooks     = "hooks"     // the folder of the agent's hooks' serving certificate, with the CA's beside it
	masters   = "system:masters"
)

// serviceIP is kubernetes.default's address in the lab's service range.
var serviceIP = net.IPv4(10, 96, 0, 1)

// Create makes dir (0700) with the CA, the certificates of all servers, which are reached at address, and the
// ServiceAccount keys. server is the URL of the API server, for kubeconfigs.
func Create(dir string, address net.IP, server string) (*Folder, error) {
	ca, err := NewAuthority("kubehenge-lab-ca")
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, ca: ca, server: server}
	for _, folder := range []string{f.Webhooks(), f.Hooks()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of certificates: %w", err)
		}
	}
	for _, name := range []string{caFile, filepath.Join(hooks, caFile)} {
		if err := f.write(name, ca.PEM()); err != nil {
			return nil, err
		}
	}
	for name, leaf := range servers(address) {
		if err := f.issue(name, leaf); err != nil {
			return nil, err
		}
	}
	return f, f.serviceAccountKeys()
}

func servers(address net.IP) map[string]Leaf {
	loopback := []net.IP{address, net.IPv4(127, 0, 0, 1)}
	return map[string]Leaf{
		Etcd:      {CommonName: "etcd", DNSNames: []string{"localhost"}, IPs: loopback},
		EtcdUser:  {CommonName: "kube-apiserver-etcd-client"},
		Git:       {CommonName: "git", DNSNames: []string{"localhost"}, IPs: loopback},
		APIServer: {CommonName: "kube-apiserver", DNSNames: apiServerNames, IPs: append(loopback, serviceIP)},
		// controller-runtime's webhook server wants this folder and these file names.
		filepath.Join(webhooks, "tls"): {CommonName: "webhooks", DNSNames: []string{"localhost"}, IPs: loopback},
		filepath.Join(hooks, "tls"):    {CommonName: "hooks", DNSNames: []string{"localhost"}, IPs: loopback},
	}
}

var apiServerNames = []string{
	"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
}

// Kubeconfig makes the kubeconfig of a user with a client certificate of its own and returns its path. groups are
// its groups in Kubernetes.
func (f *Folder) Kubeconfig(name, user string, groups ...string) (string, error) {
	pair, err := f.ca.Issue(Leaf{CommonName: user, Organizations: groups})
	if err != nil {
		return "", err
	}
	config := api.NewConfig()
	config.Clusters["lab"] = &api.Cluster{Server: f.server, CertificateAuthorityData: f.ca.PEM()}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: pair.Certificate, ClientKeyData: pair.Key}
	config.Contexts["lab"] = &api.Context{Cluster: "lab", AuthInfo: name}
	config.CurrentContext = "lab"
	path := filepath.Join(f.dir, name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("write kubeconfig: %w", err)
	}
	return path, nil
}

// AdminKubeconfig makes the kubeconfig of a user who may do everything.
func (f *Folder) AdminKubeconfig(name string) (string, error) {
	return f.Kubeconfig(name, "kubehenge-lab-"+name, masters)
}

// ServiceAccountKubeconfig makes the kubeconfig of a user whom Kubernetes takes for a ServiceAccount, so that a
// provider that runs outside of a Pod has the rights its own manifests give it and no more.
func (f *Folder) ServiceAccountKubeconfig(name, namespace, account string) (string, error) {
	return f.Kubeconfig(name, "system:serviceaccount:"+namespace+":"+account,
		"system:serviceaccounts", "system:serviceaccounts:"+namespace)
}

// CA is the CA's certificate in PEM.
func (f *Folder) CA() []byte { return f.ca.PEM() }

// CAFile is the path of the CA's certificate.
func (f *Folder) CAFile() string { return f.path(caFile) }

// Cert is the path of a server's certificate.
func (f *Folder) Cert(name string) string { return f.path(name + ".crt") }

// Key is the path of a server's key.
func (f *Folder) Key(name string) string { return f.path(name + ".key") }

// Webhooks is the folder with the webhooks' serving certificate, as tls.crt and tls.key.
func (f *Folder) Webhooks() string { return f.path(webhooks) }

// Hooks is the folder with the serving certificate of the agent's hooks, as tls.crt, tls.key and ca.crt.
func (f *Folder) Hooks() string { return f.path(hooks) }

// RenewHooks makes a new CA and a new certificate of the hooks signed by it, as if both had been rotated.
func (f *Folder) RenewHooks(address net.IP) error {
	ca, err := NewAuthority("kubehenge-lab-hooks-ca")
	if err != nil {
		return err
	}
	name := filepath.Join(hooks, "tls")
	pair, err := ca.Issue(servers(address)[name])
	if err != nil {
		return err
	}
	for file, data := range map[string][]byte{filepath.Join(hooks, caFile): ca.PEM(), name + ".crt": pair.Certificate, name + ".key": pair.Key} {
		if err := f.write(file, data); err != nil {
			return err
		}
	}
	return nil
}

// ServiceAccountKey is the path of the key that signs ServiceAccounts' tokens.
func (f *Folder) ServiceAccountKey() string { return f.path(saKey) }

// ServiceAccountPub is the path of the key that checks them.
func (f *Folder) ServiceAccountPub() string { return f.path(saPub) }

func (f *Folder) issue(name string, leaf Leaf) error {
	pair, err := f.ca.Issue(leaf)
	if err != nil {
		return err
	}
	if err := f.write(name+".crt", pair.Certificate); err != nil {
		return err
	}
	return f.write(name+".key", pair.Key)
}

func (f *Folder) serviceAccountKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("make the ServiceAccount key: %w", err)
	}
	private, err := encodeKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode the ServiceAccount key: %w", err)
	}
	if err := f.write(saKey, private); err != nil {
		return err
	}
	return f.write(saPub, encode("PUBLIC KEY", public))
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *Folder) write(name string, data []byte) error {
	if err := os.WriteFile(f.path(name), data, 0o600); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}
