package appliance

import (
	"context"

	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/signin"
)

// streamEvents tells an open page what changed, until its session ends.
func streamEvents(r *request) (any, error) {
	id := signin.ReadCookie(r.Request)
	alive := func() bool {
		_, err := r.s.keeper.Session(id)
		return err == nil
	}
	return answered, r.s.hub.Serve(r.Context(), r.w, r.session.User, alive)
}

// moved tells who waits for the branch that it has moved.
func (s *Server) moved() {
	tip, err := s.git.Repository().Fetch(context.Background())
	if err != nil {
		s.opts.Log.Warn("the branch moved, and cannot be read", "reason", err)
	}
	s.hub.Publish(tip, "changes", "clusters", "fleet")
	if s.mirror != nil {
		s.mirror.Nudge()
	}
	if s.opts.Moved != nil {
		s.opts.Moved()
	}
}

// seen tells pages what live objects changed.
func (s *Server) seen(what live.What) { s.hub.Publish("", string(what)) }
