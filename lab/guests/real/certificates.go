package real

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kubehenge.dev/lab/guests/cluster"
)

// Lifetimes of what kubeadm signs, and how far back it begins.
const (
	leafLifetime = 365 * 24 * time.Hour
	backdated    = 5 * time.Minute
)

// Groups that kubeadm's users are in.
const (
	admins  = "kubeadm:cluster-admins"
	masters = "system:masters"
)

// leaf is a certificate to be made. Upstream: kubernetes, cmd/kubeadm/app/phases/certs/certlist.go
type leaf struct {
	file         string // below the certificates' folder, without extension
	ca           cluster.Authority
	name         string // common name
	group        string
	hosts        []string // DNS names and addresses; none for who is only a client
	serves, asks bool
}

// leaves are the certificates of a machine of the control plane.
func (m *member) leaves() ([]leaf, error) {
	s, n := m.spec, m.node
	serviceIP, err := firstAddress(s.ServiceSubnet)
	if err != nil {
		return nil, fmt.Errorf("networking.serviceSubnet: %w", err)
	}
	api := append([]string{
		n.Name, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + s.DNSDomain,
		serviceIP, n.Address, m.cluster.host(),
	}, s.CertSANs...)
	etcd := []string{"localhost", n.Name, n.Address, "127.0.0.1", "::1"}
	list := []leaf{
		{file: "apiserver", ca: s.CA, name: "kube-apiserver", hosts: api, serves: true},
		{file: "apiserver-kubelet-client", ca: s.CA, name: "kube-apiserver-kubelet-client", group: admins, asks: true},
		{file: "apiserver-etcd-client", ca: s.EtcdCA, name: "kube-apiserver-etcd-client", asks: true},
		{file: "etcd/server", ca: s.EtcdCA, name: n.Name, hosts: etcd, serves: true, asks: true},
		{file: "etcd/peer", ca: s.EtcdCA, name: n.Name, hosts: etcd, serves: true, asks: true},
		{file: "etcd/healthcheck-client", ca: s.EtcdCA, name: "kube-etcd-healthcheck-client", asks: true},
	}
	if front, ok := m.frontProxy(); ok {
		list = append(list, leaf{file: "front-proxy-client", ca: front, name: "front-proxy-client", asks: true})
	}
	return list, nil
}

// frontProxy is the CA of who may pass requests on in other users' names; false without one.
func (m *member) frontProxy() (cluster.Authority, bool) {
	base := path.Join(m.spec.CertificatesDir, "front-proxy-ca")
	ca, err := cluster.ParseAuthority(m.node.Files[base+".crt"], m.node.Files[base+".key"], time.Now())
	return ca, err == nil
}

// firstAddress is the address of the Service kubernetes: the first of the range.
func firstAddress(subnet string) (string, error) {
	prefix, err := netip.ParsePrefix(subnet)
	if err != nil {
		return "", err
	}
	return prefix.Masked().Addr().Next().String(), nil
}

// makeCertificates puts the certificates on the machine's disk that kubeadm makes there.
func (m *member) makeCertificates() error {
	list, err := m.leaves()
	if err != nil {
		return err
	}
	for _, l := range list {
		certificate, key, err := l.issue(time.Now())
		if err != nil {
			return err
		}
		for extension, content := range map[string][]byte{".crt": certificate, ".key": key} {
			if err := m.disk.write(path.Join(m.spec.CertificatesDir, l.file+extension), content); err != nil {
				return fmt.Errorf("write certificate %s: %w", l.file, err)
			}
		}
	}
	return nil
}

// issue signs the certificate and returns it and its key in PEM.
func (l leaf) issue(now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of %s: %w", l.name, err)
	}
	template, err := l.template(now)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, l.ca.Certificate, private.Public(), l.ca.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate of %s: %w", l.name, err)
	}
	encoded, err := encodeKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), encoded, err
}

func (l leaf) template(now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: l.name},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(leafLifetime), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	if l.group != "" {
		t.Subject.Organization = []string{l.group}
	}
	if l.serves {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if l.asks {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	for _, host := range l.hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t, nil
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// user makes a client's configuration for the API server at an address, as a user that the cluster's CA vouches for.
func (c *Cluster) user(server, name, group string) (*rest.Config, error) {
	certificate, key, err := leaf{ca: c.spec.CA, name: name, group: group, asks: true}.issue(time.Now())
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + server,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.spec.CA.PEM, CertData: certificate, KeyData: key},
	}, nil
}

// kubeconfig writes such a configuration to the machine's disk.
func (m *member) kubeconfig(file string, config *rest.Config) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["kubernetes"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos["user"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	k.Contexts["kubernetes"] = &clientcmdapi.Context{Cluster: "kubernetes", AuthInfo: "user"}
	k.CurrentContext = "kubernetes"
	data, err := clientcmd.Write(*k)
	if err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	return m.disk.write(file, data)
}

// etcdTLS is how this process reaches etcd: with the certificate that kubeadm makes for health checks.
func (m *member) etcdTLS() (*tls.Config, error) {
	dir := m.spec.CertificatesDir
	certificate, err := os.ReadFile(m.disk.path(dir + "/etcd/healthcheck-client.crt"))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(m.disk.path(dir + "/etcd/healthcheck-client.key"))
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(m.spec.EtcdCA.Certificate)
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots}, nil
}
