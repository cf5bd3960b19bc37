package kubelet

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // as the code that this passes streams to
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/tools/portforward"
	streams "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/api/portforward"
)

// admins are the groups whose members may use a kubelet. Upstream: kubeadm binds its own to cluster-admin.
var admins = []string{"system:masters", "kubeadm:cluster-admins"}

// serve listens on the machine's address until stop is called, after which the address is free.
func (k *Kubelet) serve(ctx context.Context) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(k.options.Node.Address, strconv.Itoa(Port)))
	if err != nil {
		return nil, fmt.Errorf("serve the kubelet of node %s: %w", k.options.Node.Name, err)
	}
	server := &http.Server{
		Handler: k.handler(ctx),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{k.options.Serving},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: k.options.ClientCA,
		},
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go server.ServeTLS(listener, "", "") //nolint:errcheck // ends with ErrServerClosed
	return func() {
		listener.Close() //nolint:errcheck // the server may not have taken it over yet
		server.Close()   //nolint:errcheck // it has ended
	}, nil
}

// handler serves the kubelet's paths. Upstream: kubernetes, pkg/kubelet/server/server.go
func (k *Kubelet) handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	forward := func(w http.ResponseWriter, r *http.Request) { k.forwardPorts(ctx, w, r) }
	mux.HandleFunc("/portForward/{namespace}/{pod}", forward)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", forward)
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "%s runs in name only: it writes nothing\n", r.PathValue("container"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "pods run in name only: there is nothing to run commands in", http.StatusNotImplemented)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		groups := r.TLS.PeerCertificates[0].Subject.Organization
		if !slices.ContainsFunc(admins, func(group string) bool { return slices.Contains(groups, group) }) {
			http.Error(w, "Forbidden", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// forwardPorts connects streams to what listens on the machine. Pods with a network of their own have nobody listening.
func (k *Kubelet) forwardPorts(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	pod := k.pod(r.PathValue("namespace"), r.PathValue("pod"))
	if pod == nil {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	received := make(chan httpstream.Stream, 1)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, streams.HTTPStreamReceived(received))
	if conn == nil {
		return // the upgrader has answered
	}
	defer conn.Close() //nolint:errcheck // it has ended
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	conn.SetIdleTimeout(10 * time.Minute)
	handler := streams.NewHTTPStreamHandler(conn, received, pod.Name, pod.Namespace,
		func(ctx context.Context, _, _, port string, stream io.ReadWriteCloser) error {
			return k.connect(ctx, pod, port, stream)
		})
	handler.Run(logr.NewContext(ctx, logr.Discard()))
}

func (k *Kubelet) connect(ctx context.Context, pod *corev1.Pod, port string, stream io.ReadWriteCloser) error {
	if !pod.Spec.HostNetwork {
		return fmt.Errorf("dial %s in pod %s: connection refused: it runs in name only", port, pod.Name)
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", net.JoinHostPort(k.options.Node.Address, port))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it has ended
	return streams.HTTPStreamTunnel(ctx, stream, conn)
}
