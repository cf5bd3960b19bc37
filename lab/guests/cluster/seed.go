package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Versions that kubeadm 1.36 installs.
const (
	CoreDNSTag = "v1.14.2"
	EtcdTag    = "3.6.8-0"
)

// corefile is kubeadm's default (kubernetes, cmd/kubeadm/app/phases/addons/dns/manifests.go).
const corefile = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`

// seed writes what kubeadm init leaves in a new cluster, as far as Cluster API and joining machines look for it.
func (c *Cluster) seed(ctx context.Context) error {
	info, err := c.clusterInfo()
	if err != nil {
		return err
	}
	objects := append(namespaces(), info)
	objects = append(objects, c.configuration()...)
	objects = append(objects, roles()...)
	objects = append(objects, c.addons()...)
	for _, o := range objects {
		o.SetUID(newUID())
		if err := c.put(ctx, o); err != nil {
			return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

func namespaces() []client.Object {
	var list []client.Object
	for _, name := range []string{"default", "kube-public", "kube-system", "kube-node-lease"} {
		list = append(list, &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
			Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		})
	}
	return list
}

// clusterInfo tells joining machines the cluster's CA; whether it is the right one they see by its hash.
func (c *Cluster) clusterInfo() (client.Object, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[""] = &clientcmdapi.Cluster{Server: "https://" + c.spec.Endpoint, CertificateAuthorityData: c.spec.CA.PEM}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("encode cluster-info: %w", err)
	}
	return configMap("kube-public", "cluster-info", "kubeconfig", string(data)), nil
}

func configMap(namespace, name, key, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{key: value}}
}

func (c *Cluster) configuration() []client.Object {
	return []client.Object{
		configMap("kube-system", "kubeadm-config", "ClusterConfiguration", c.spec.Configuration),
		configMap("kube-system", "kubelet-config", "kubelet", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"),
	}
}

func roles() []client.Object {
	const getNodes, admins = "kubeadm:get-nodes", "kubeadm:cluster-admins"
	return []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: getNodes},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}}},
		},
		binding(getNodes, getNodes, "system:bootstrappers:kubeadm:default-node-token"),
		binding(admins, "cluster-admin", admins),
	}
}

func binding(name, role, group string) client.Object {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	}
}

// addons are kube-proxy and CoreDNS, whose images Cluster API updates during an upgrade.
func (c *Cluster) addons() []client.Object {
	return []client.Object{
		&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-proxy", Labels: map[string]string{"k8s-app": "kube-proxy"}},
			Spec:       appsv1.DaemonSetSpec{Selector: selector("kube-proxy"), Template: podTemplate("kube-proxy", "kube-proxy", c.image("kube-proxy", c.spec.Version))},
		},
		configMap("kube-system", "coredns", "Corefile", corefile),
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "coredns", Labels: map[string]string{"k8s-app": "kube-dns"}},
			Spec:       appsv1.DeploymentSpec{Selector: selector("kube-dns"), Template: podTemplate("kube-dns", "coredns", c.image("coredns/coredns", CoreDNSTag))},
		},
	}
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": app}}
}

func podTemplate(app, container, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"k8s-app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: image}}},
	}
}

// AddToken makes a bootstrap token valid for a day, as kubeadm init does with the tokens in its configuration.
func (c *Cluster) AddToken(ctx context.Context, token string) error {
	parts := TokenPattern.FindStringSubmatch(token)
	if parts == nil {
		return fmt.Errorf("add bootstrap token: malformed")
	}
	expiry := c.registry.clock.Now().Add(24 * 3600e9).UTC().Format("2006-01-02T15:04:05Z07:00")
	err := c.put(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: tokenSecretPrefix + parts[1], UID: newUID()},
		Type:       tokenSecretType,
		Data: map[string][]byte{
			tokenIDKey: []byte(parts[1]), tokenSecretKey: []byte(parts[2]), tokenExpiryKey: []byte(expiry),
			tokenUsageKey: []byte("true"), "usage-bootstrap-signing": []byte("true"),
		},
	})
	if err != nil {
		return fmt.Errorf("add bootstrap token %s: %w", parts[1], err)
	}
	return nil
}
