package hooks

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"k8s.io/utils/clock"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/runtime/server"
)

// The names of the topology hooks; a class asks for them by name and v1alpha1.HooksName.
const (
	GeneratePatchesName  = "generate-patches"
	ValidateTopologyName = "validate-topology"
)

// Options say where hooks are served.
type Options struct {
	// Listen is host and port; an empty host listens on all addresses.
	Listen string
	// CertDir holds tls.crt and tls.key, which are read again when they change.
	CertDir string
	// Clock is the time.
	Clock clock.PassiveClock
}

// NewServer is a server of all hooks; a manager runs it on every replica, whoever leads.
func NewServer(o Options) (*server.Server, error) {
	host, service, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("read the hooks' address: %w", err)
	}
	port, err := strconv.Atoi(service)
	if err != nil || port < 1 {
		return nil, fmt.Errorf("read the hooks' address %s: the port is no number from 1", o.Listen)
	}
	catalog := runtimecatalog.New()
	if err := hooksv1.AddToCatalog(catalog); err != nil {
		return nil, fmt.Errorf("list the hooks: %w", err)
	}
	s, err := server.New(server.Options{Catalog: catalog, Host: host, Port: port, CertDir: o.CertDir,
		TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }}})
	if err != nil {
		return nil, fmt.Errorf("make the hooks' server: %w", err)
	}
	for _, h := range handlers(o.Clock) {
		if err := s.AddExtensionHandler(h); err != nil {
			return nil, fmt.Errorf("serve the hook %s: %w", h.Name, err)
		}
	}
	return s, nil
}

// handlers are all hooks that are served.
func handlers(now clock.PassiveClock) []server.ExtensionHandler {
	list := []server.ExtensionHandler{
		{Hook: hooksv1.GeneratePatches, Name: GeneratePatchesName, HandlerFunc: GeneratePatches},
		{Hook: hooksv1.ValidateTopology, Name: ValidateTopologyName, HandlerFunc: ValidateTopology},
	}
	for _, h := range lifecycle {
		list = append(list, server.ExtensionHandler{Hook: h.hook, Name: h.name, HandlerFunc: h.handler(now)})
	}
	return list
}
