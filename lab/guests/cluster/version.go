package cluster

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// Version is the Kubernetes version that the API server reports: the oldest of its control-plane nodes'.
func (c *Cluster) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := ""
	for _, m := range c.nodes {
		if m.node.ControlPlane && (oldest == "" || olderThan(m.node.Version, oldest)) {
			oldest = m.node.Version
		}
	}
	if oldest == "" {
		return c.spec.Version
	}
	return oldest
}

func olderThan(a, b string) bool {
	va, errA := version.ParseGeneric(a)
	vb, errB := version.ParseGeneric(b)
	return errA == nil && errB == nil && va.LessThan(vb)
}

func (c *Cluster) serveVersion(w http.ResponseWriter) {
	git := c.Version()
	info := apiversion.Info{
		GitVersion: git, GitTreeState: "clean", GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: "linux/amd64",
	}
	if parts := strings.SplitN(strings.TrimPrefix(git, "v"), ".", 3); len(parts) == 3 {
		info.Major, info.Minor = parts[0], parts[1]
	}
	writeJSON(w, http.StatusOK, info)
}

// openAPIProtobuf is the type of version 2 in its binary form. Clients ask for it by an older name, with "@" in place of
// the last but one dot, which is no valid type for an answer (kubernetes, kube-openapi/pkg/handler/handler.go).
const openAPIProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

// serveOpenAPI answers with valid documents that describe nothing: enough for clients that insist on having one.
func serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	info := map[string]any{"title": "Kubernetes", "version": "unversioned"}
	switch {
	case strings.HasPrefix(r.URL.Path, "/openapi/v3"):
		writeJSON(w, http.StatusOK, map[string]any{"openapi": "3.0.0", "info": info, "paths": map[string]any{}})
	case r.URL.Path != "/openapi/v2":
		writeStatus(w, http.StatusNotFound, "the server could not find the requested resource")
	case strings.Contains(r.Header.Get("Accept"), "protobuf"):
		serveOpenAPIProtobuf(w)
	default:
		writeJSON(w, http.StatusOK, map[string]any{"swagger": "2.0", "info": info, "paths": map[string]any{}})
	}
}

func serveOpenAPIProtobuf(w http.ResponseWriter) {
	document := &openapi_v2.Document{
		Swagger: "2.0",
		Info:    &openapi_v2.Info{Title: "Kubernetes", Version: "unversioned"},
		Paths:   &openapi_v2.Paths{},
	}
	data, err := proto.Marshal(document)
	if err != nil {
		writeStatus(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", openAPIProtobuf)
	w.Write(data) //nolint:errcheck // the client has gone
}

// writeStatus answers with the error object that Kubernetes clients understand.
func writeStatus(w http.ResponseWriter, code int, message string) {
	writeJSON(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Message: message, Reason: reasons[code],
	})
}

var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest:          metav1.StatusReasonBadRequest,
	http.StatusUnauthorized:        metav1.StatusReasonUnauthorized,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client has gone
}
