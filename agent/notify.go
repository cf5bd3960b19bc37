package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"kubehenge.dev/agent/source"
)

// notifyServer takes signed nudges on every replica. Only the leader fetches; the others answer 503, so that the
// sender knows that this nudge did nothing (the leader's poll still comes).
type notifyServer struct {
	listen  string
	handler http.Handler
}

func addNotify(mgr ctrl.Manager, o Options, src *source.Source) error {
	if o.NotifyListen == "" {
		return nil
	}
	secret := func() ([]byte, error) { return os.ReadFile(o.NotifyKeyFile) }
	handler := source.NotifyHandler(secret, src.Notify)
	elected := mgr.Elected()
	return mgr.Add(&notifyServer{listen: o.NotifyListen, handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-elected:
			handler.ServeHTTP(w, req)
		default:
			http.Error(w, "another replica is the leader", http.StatusServiceUnavailable)
		}
	})})
}

// NeedLeaderElection lets every replica listen.
func (*notifyServer) NeedLeaderElection() bool { return false }

// Start serves until the context ends.
func (s *notifyServer) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("listen for nudges: %w", err)
	}
	server := &http.Server{Handler: s.handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() }) // open nudges may be dropped: the poll comes
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve nudges: %w", err)
	}
	return nil
}
