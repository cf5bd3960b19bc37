package appliance

import (
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/appliance/view/change"
)

// liveSource is what the agent says of the branch in the management cluster; nil where that is not known.
func (s *Server) liveSource() *v1alpha1.SourceStatus {
	known := s.live.Fleet()
	if known == nil {
		return nil
	}
	return &known.Status.Source
}

func showRepository(r *request) (any, error) {
	t, err := r.teller()
	if err != nil {
		return nil, err
	}
	view := change.Repository{
		CloneURL: r.s.opts.PublicURL + githttp.Prefix + "/" + githttp.Name, Branch: r.s.git.Repository().Branch(), Agent: r.agent(),
		LastFetch: r.s.git.LastRead(), Mirror: r.s.mirrorView(), Refused: []change.Refusal{}, SigningKey: r.s.SigningKey(),
	}
	for _, refused := range r.s.git.Refused() {
		view.Refused = append(view.Refused, change.Refusal(refused))
	}
	if c := r.s.history.Commit(r.state.Commit); c != nil {
		tip, err := t.Brief(r.Context(), c)
		if err != nil {
			return nil, err
		}
		view.Tip = &tip
	}
	return view, nil
}
