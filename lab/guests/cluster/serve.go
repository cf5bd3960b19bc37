package cluster

import (
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ServeHTTP answers one request: etcd's for who came as etcd's client, the API server's for the rest.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The in-memory handlers find the cluster by this name, and port-forward dials it.
	r.Host = c.spec.Endpoint
	if r.TLS != nil && strings.HasPrefix(r.TLS.ServerName, etcdPrefix) {
		c.registry.etcd.ServeHTTP(w, r)
		return
	}
	if c.servePublic(w, r) {
		return
	}
	who, err := c.authenticate(r)
	if err != nil {
		writeStatus(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	if reason := who.forbidden(r); reason != "" {
		writeStatus(w, http.StatusForbidden, reason)
		return
	}
	c.serveAPI(w, r)
}

// servePublic answers what needs no authentication, and says whether it did.
func (c *Cluster) servePublic(w http.ResponseWriter, r *http.Request) bool {
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/version":
		c.serveVersion(w)
	case isHealth(path):
		w.Write([]byte("ok")) //nolint:errcheck // the client has gone
	case path == clusterInfoPath && r.Method == http.MethodGet:
		c.registry.api.ServeHTTP(w, r)
	default:
		return false
	}
	return true
}

func isHealth(path string) bool {
	for _, check := range []string{"/healthz", "/livez", "/readyz"} {
		if path == check || strings.HasPrefix(path, check+"/") {
			return true
		}
	}
	return false
}

func (c *Cluster) serveAPI(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/openapi/") {
		serveOpenAPI(w, r)
		return
	}
	if pod, ok := forwardedPod(r.URL.Path); ok && !c.podAnswers(r, pod) {
		writeStatus(w, http.StatusInternalServerError, "error dialing backend: the node of pod "+pod.Name+" does not answer")
		return
	}
	if r.Method == http.MethodPut {
		if err := c.fillResourceVersion(r); err != nil {
			writeStatus(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	c.registry.api.ServeHTTP(w, r)
}

// forwardedPod is the pod that a port-forward path is about.
func forwardedPod(path string) (client.ObjectKey, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) != 7 || parts[2] != "namespaces" || parts[4] != "pods" || parts[6] != "portforward" {
		return client.ObjectKey{}, false
	}
	return client.ObjectKey{Namespace: parts[3], Name: parts[5]}, true
}

// podAnswers says whether the machine that a pod runs on does.
func (c *Cluster) podAnswers(r *http.Request, key client.ObjectKey) bool {
	pod := &corev1.Pod{}
	if err := c.objects().Get(r.Context(), key, pod); err != nil {
		return false
	}
	return c.runningMember(pod.Spec.NodeName) != nil
}
