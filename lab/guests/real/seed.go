package real

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/lab/guests/cluster"
)

// objectsText is what kubeadm init leaves in a new cluster.
//
//go:embed kubeadm.yaml
var objectsText string

var objectsTemplate = template.Must(template.New("kubeadm.yaml").Funcs(template.FuncMap{"indent": indent}).Parse(objectsText))

func indent(spaces int, text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", spaces))
}

// plain is what a client needs to ask for paths that are no objects.
func plain() (*schema.GroupVersion, runtime.NegotiatedSerializer) {
	return &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
}

// seed writes what kubeadm init leaves in a new cluster. It may be repeated.
func (c *Cluster) seed(ctx context.Context, m *member, tokens []string) error {
	objects, err := c.objects()
	if err != nil {
		return err
	}
	for _, token := range tokens {
		secret, err := tokenSecret(token, time.Now())
		if err != nil {
			return err
		}
		objects = append(objects, secret)
	}
	config, err := c.admin(m.apiAddress())
	if err != nil {
		return err
	}
	config.QPS = -1
	writer, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := writer.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// objects are those of kubeadm.yaml for this cluster.
func (c *Cluster) objects() ([]client.Object, error) {
	values, err := c.values()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := objectsTemplate.Execute(&text, values); err != nil {
		return nil, fmt.Errorf("fill in kubeadm's objects: %w", err)
	}
	decoder := scheme.Codecs.UniversalDeserializer()
	var list []client.Object
	for _, document := range strings.Split(text.String(), "\n---\n") {
		decoded, _, err := decoder.Decode([]byte(document+"\n"), nil, nil)
		if err != nil {
			return nil, fmt.Errorf("decode kubeadm's objects: %w", err)
		}
		list = append(list, decoded.(client.Object))
	}
	return list, nil
}

// values are those that kubeadm.yaml names.
func (c *Cluster) values() (map[string]any, error) {
	info := clientcmdapi.NewConfig()
	info.Clusters[""] = &clientcmdapi.Cluster{Server: "https://" + c.spec.Endpoint, CertificateAuthorityData: c.spec.CA.PEM}
	kubeconfig, err := clientcmd.Write(*info)
	if err != nil {
		return nil, fmt.Errorf("encode cluster-info: %w", err)
	}
	dns, err := dnsAddress(c.spec.ServiceSubnet)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"Server": "https://" + c.spec.Endpoint, "ClusterInfo": string(kubeconfig), "ClusterConfiguration": c.spec.Configuration,
		"Domain": c.spec.DNSDomain, "DNS": dns, "PodSubnet": c.spec.PodSubnet,
		"CoreDNS":   cluster.Image(c.spec.ImageRepository, "coredns/coredns", cluster.CoreDNSTag),
		"KubeProxy": cluster.Image(c.spec.ImageRepository, "kube-proxy", c.spec.Version),
	}, nil
}

// dnsAddress is the cluster's DNS Service: the tenth of the range.
func dnsAddress(subnet string) (string, error) {
	prefix, err := netip.ParsePrefix(subnet)
	if err != nil {
		return "", fmt.Errorf("networking.serviceSubnet: %w", err)
	}
	a := prefix.Masked().Addr()
	for range 10 {
		a = a.Next()
	}
	return a.String(), nil
}

// tokenSecret is a bootstrap token that is valid for a day.
func tokenSecret(token string, now time.Time) (client.Object, error) {
	parts := cluster.TokenPattern.FindStringSubmatch(token)
	if parts == nil {
		return nil, errors.New("add bootstrap token: malformed")
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + parts[1]},
		Type:       corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": parts[1], "token-secret": parts[2], "expiration": now.Add(24 * time.Hour).UTC().Format(time.RFC3339),
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}, nil
}
