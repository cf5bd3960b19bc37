package volumes

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// pvJSON is a PersistentVolume as an API server writes it.
func pvJSON(name string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": name, "creationTimestamp": "2026-11-30T12:00:00Z", "annotations": map[string]string{lifecycleAnnotation: "keep"}},
		"spec": map[string]any{
			"persistentVolumeReclaimPolicy": "Delete", "claimRef": map[string]any{"namespace": "shop", "name": "data-" + name},
			"csi": map[string]any{"driver": Driver, "volumeHandle": "eu/pve1/zfs/vm-1099-" + name},
		},
		"status": map[string]any{"phase": "Released"},
	}
}

// kubeconfigOf is a kubeconfig as Cluster API makes them, changed.
func kubeconfigOf(s *httptest.Server, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) []byte {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	cluster := &clientcmdapi.Cluster{Server: s.URL, CertificateAuthorityData: ca}
	user := &clientcmdapi.AuthInfo{Token: "t0ken"}
	change(cluster, user)
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": cluster}, AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": user},
		Contexts: map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	})
	if err != nil {
		panic(err)
	}
	return data
}

func asIs(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}

func workloadsWith(kubeconfig []byte) *Workloads {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name + "-kubeconfig"}, Data: map[string][]byte{"value": kubeconfig}}
	return NewWorkloads(fake.NewClientBuilder().WithObjects(secret).Build(), time.Now)
}

func TestPersistentVolumesAreReadPageByPage(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/persistentvolumes" || r.Header.Get("Authorization") != "Bearer t0ken" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		page := map[string]any{"metadata": map[string]any{"continue": "more"}, "items": []any{pvJSON("pvc-a")}}
		if r.URL.Query().Get("continue") == "more" {
			page = map[string]any{"metadata": map[string]any{}, "items": []any{pvJSON("pvc-b")}}
		}
		json.NewEncoder(w).Encode(page) //nolint:errcheck // the client has gone
	}))
	defer s.Close()
	got, err := workloadsWith(kubeconfigOf(s, asIs)).PersistentVolumes(context.Background(), shop.NamespacedName)
	if err != nil {
		t.Fatal(err)
	}
	want := func(name string) PersistentVolume {
		return PersistentVolume{
			Name: name, Driver: Driver, Handle: "eu/pve1/zfs/vm-1099-" + name, Policy: "Delete", Phase: "Released", Lifecycle: "keep",
			ClaimNamespace: "shop", ClaimName: "data-" + name,
		}
	}
	if diff := cmp.Diff([]PersistentVolume{want("pvc-a"), want("pvc-b")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAHostileAPIServerIsBounded(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"an answer without end": func(w http.ResponseWriter, _ *http.Request) {
			for range maxAnswer/1024 + 2 {
				if _, err := w.Write(make([]byte, 1024)); err != nil {
					return
				}
			}
		},
		"pages without end": func(w http.ResponseWriter, _ *http.Request) {
			items := make([]any, 5000)
			for i := range items {
				items[i] = map[string]any{}
			}
			json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"continue": "x"}, "items": items}) //nolint:errcheck
		},
		"empty pages without end": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"metadata":{"continue":"x"}}`) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://169.254.169.254/", http.StatusFound)
		},
		"no JSON":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"another type": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items": {"metadata": 1}}`) },
		"no right":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewTLSServer(answer)
			defer s.Close()
			if _, err := workloadsWith(kubeconfigOf(s, asIs)).PersistentVolumes(context.Background(), shop.NamespacedName); err == nil {
				t.Error("it is believed")
			}
		})
	}
}

func TestKubeconfigsThatAreRefused(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer s.Close()
	for name, c := range map[string]struct {
		change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		want   string
	}{
		"one that runs a program": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Token, u.Exec = "", &clientcmdapi.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
		}, "program"},
		"one that reads a token from a file": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.TokenFile = "/proc/self/environ" }, "files"},
		"one that does not verify": {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.CertificateAuthorityData, c.InsecureSkipTLSVerify = nil, true
		}, "verify"},
		"one without TLS":        {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "http://127.0.0.1:1" }, "verify"},
		"one without a CA":       {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = nil }, "verify"},
		"one that names a proxy": {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.ProxyURL = "http://127.0.0.1:1" }, "proxy"},
		"one with another's CA":  {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = []byte("x") }, "certificates"},
		"one that CA file vouches": {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.CertificateAuthority = "/etc/ssl/certs/ca-certificates.crt"
			c.CertificateAuthorityData = nil
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workloadsWith(kubeconfigOf(s, c.change)).PersistentVolumes(context.Background(), shop.NamespacedName)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := workloadsWith([]byte("secret: {")).PersistentVolumes(context.Background(), shop.NamespacedName); err == nil || strings.Contains(err.Error(), "secret: {") {
		t.Errorf("a kubeconfig that does not read: %v", err)
	}
	if _, err := workloadsWith(kubeconfigOf(s, asIs)).PersistentVolumes(context.Background(), shop.NamespacedName); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

// A kubeconfig that Cluster API renewed is used after the old one failed once.
func TestARenewedKubeconfigIsReadAgain(t *testing.T) {
	valid := "t0ken"
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+valid {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "{}")
	}))
	defer s.Close()
	ctx := context.Background()
	w := workloadsWith(kubeconfigOf(s, asIs))
	if _, err := w.PersistentVolumes(ctx, shop.NamespacedName); err != nil {
		t.Fatal(err)
	}
	valid = "renewed"
	renewed := workloadsWith(kubeconfigOf(s, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token = valid }))
	w.secrets = renewed.secrets
	if _, err := w.PersistentVolumes(ctx, shop.NamespacedName); err == nil {
		t.Error("the kept connection was not used")
	}
	if _, err := w.PersistentVolumes(ctx, shop.NamespacedName); err != nil {
		t.Error(err)
	}
}
