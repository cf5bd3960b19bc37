package cluster_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/secret"

	"kubehenge.dev/lab/guests/bootstrapdata"
)

// caller is somebody with or without credentials.
type caller struct {
	certificate *bootstrapdata.Client
	token       string
}

func (c *running) get(t *testing.T, who caller, method, path string) int {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.data.Certificates.GetByPurpose(secret.ClusterCA).KeyPair.Cert)
	config := &tls.Config{RootCAs: pool}
	if who.certificate != nil {
		pair, err := tls.X509KeyPair(who.certificate.Certificate, who.certificate.Key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	request, err := http.NewRequest(method, "https://"+c.Endpoint()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if who.token != "" {
		request.Header.Set("Authorization", "Bearer "+who.token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// addToken makes a Secret as Cluster API does, changed by change.
func (c *running) addToken(t *testing.T, id, value string, change func(*corev1.Secret)) {
	t.Helper()
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Type:       corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"token-id": []byte(id), "token-secret": []byte(value), "usage-bootstrap-authentication": []byte("true"),
			"expiration": []byte(time.Now().Add(15 * time.Minute).UTC().Format(time.RFC3339)),
		},
	}
	if change != nil {
		change(s)
	}
	if _, err := c.client.CoreV1().Secrets("kube-system").Create(context.Background(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestAuthenticate(t *testing.T) {
	const nodes, secrets = "/api/v1/nodes", "/api/v1/namespaces/kube-system/secrets"
	const config = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
	const info = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
	w := newWorld(t)
	c := w.start(t, "127.78.40.20:6443", "a")
	sign := func(data *bootstrapdata.Cluster, purpose secret.Purpose) *bootstrapdata.Client {
		client, err := data.Sign(purpose, "kubernetes-admin", "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		return &client
	}
	const value = "0123456789abcdef"
	c.addToken(t, "aaaaaa", value, nil)
	c.addToken(t, "bbbbbb", value, func(s *corev1.Secret) { s.Data["expiration"] = []byte("2020-01-01T00:00:00Z") })
	c.addToken(t, "cccccc", value, func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque })
	c.addToken(t, "dddddd", value, func(s *corev1.Secret) { delete(s.Data, "usage-bootstrap-authentication") })
	c.addToken(t, "eeeeee", value, func(s *corev1.Secret) { s.Data["token-id"] = []byte("aaaaaa") })
	admin := caller{certificate: sign(c.data, secret.ClusterCA)}
	token := func(t string) caller { return caller{token: t} }

	cases := map[string]struct {
		who          caller
		method, path string
		want         int
	}{
		"the cluster's CA signed":                 {admin, "GET", secrets, 200},
		"another cluster's CA signed":             {caller{certificate: sign(newData(t, "x", "127.78.40.21:6443"), secret.ClusterCA)}, "GET", nodes, 401},
		"etcd's CA signed":                        {caller{certificate: sign(c.data, secret.EtcdCA)}, "GET", nodes, 401},
		"nobody":                                  {caller{}, "GET", nodes, 401},
		"nobody asks for OpenAPI":                 {caller{}, "GET", "/openapi/v2", 401},
		"nobody asks for the version":             {caller{}, "GET", "/version", 200},
		"nobody asks whether it lives":            {caller{}, "GET", "/livez", 200},
		"nobody asks whether it is healthy":       {caller{}, "GET", "/healthz/ping", 200},
		"nobody asks whether it is ready":         {caller{}, "GET", "/readyz", 200},
		"nobody reads cluster-info":               {caller{}, "GET", info, 200},
		"nobody writes cluster-info":              {caller{}, "DELETE", info, 401},
		"a token reads what join needs":           {token("aaaaaa." + value), "GET", config, 200},
		"a token reads nodes":                     {token("aaaaaa." + value), "GET", nodes, 200},
		"a token reads secrets":                   {token("aaaaaa." + value), "GET", secrets, 403},
		"a token deletes a node":                  {token("aaaaaa." + value), "DELETE", nodes + "/w", 403},
		"a token with a wrong secret":             {token("aaaaaa.0123456789abcdee"), "GET", config, 401},
		"a token that nobody made":                {token("zzzzzz." + value), "GET", config, 401},
		"a malformed token":                       {token("aaaaaa"), "GET", config, 401},
		"an expired token":                        {token("bbbbbb." + value), "GET", config, 401},
		"a Secret of another type":                {token("cccccc." + value), "GET", config, 401},
		"a token that is not for that":            {token("dddddd." + value), "GET", config, 401},
		"a Secret for another ID":                 {token("eeeeee." + value), "GET", config, 401},
		"a wrong token beside a good certificate": {caller{certificate: admin.certificate, token: "zzzzzz." + value}, "GET", config, 401},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.get(t, test.who, test.method, test.path); got != test.want {
				t.Errorf("%s %s: status %d, want %d", test.method, test.path, got, test.want)
			}
		})
	}
}

func TestTheServerShowsACertificateOfTheClustersCA(t *testing.T) {
	w := newWorld(t)
	c := w.start(t, "127.78.40.22:6443", "a")
	other := newData(t, "other", "127.78.40.23:6443")
	config, err := other.Admin()
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.CAData)
	_, err = tls.Dial("tcp", c.Endpoint(), &tls.Config{RootCAs: pool})
	if err == nil {
		t.Error("a client that trusts another CA was content")
	}
}
