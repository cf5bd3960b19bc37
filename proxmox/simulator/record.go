package simulator

import (
	"encoding/json"
	"maps"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/wire"
)

// keptCalls is how many calls are remembered; older ones are forgotten.
const keptCalls = 50_000

// record remembers a call for Calls.
func (s *Server) record(c *core.Call, r wire.Response) {
	rec := Call{At: s.state.Now(), User: c.Subject(), Method: c.Method, Path: c.Path, Params: maps.Clone(c.Params), Status: r.Status, Reason: r.Reason}
	for name := range c.URI {
		delete(rec.Params, name)
	}
	var envelope struct{ Data json.RawMessage }
	if len(r.Body) < 1024 && json.Unmarshal(r.Body, &envelope) == nil && len(envelope.Data) > 0 {
		_ = json.Unmarshal(envelope.Data, &rec.Data)
	}
	s.state.Log.Debug("call", "user", rec.User, "method", rec.Method, "path", rec.Path, "status", rec.Status, "reason", rec.Reason)
	s.callMu.Lock()
	defer s.callMu.Unlock()
	if len(s.calls) >= keptCalls {
		s.calls = append(s.calls[:0:0], s.calls[keptCalls/10:]...)
	}
	s.calls = append(s.calls, rec)
}

// Calls returns the calls that were answered, oldest first; of very many, the last ones.
func (s *Server) Calls() []Call {
	s.callMu.Lock()
	defer s.callMu.Unlock()
	return append([]Call(nil), s.calls...)
}

// ForgetCalls empties the list of calls.
func (s *Server) ForgetCalls() {
	s.callMu.Lock()
	defer s.callMu.Unlock()
	s.calls = nil
}
