package appliance

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render/told"
)

var errNoManagement = told.Define("no-management", "this appliance watches no management cluster, which has the kubeconfigs").With(nil).Because(nil)

// downloadKubeconfig reads the kubeconfig at this moment, and keeps nothing of it. What cannot be recorded is not handed out.
func downloadKubeconfig(r *request) (any, error) {
	var body wire.Nothing
	if err := r.read(&body); err != nil {
		return nil, err
	}
	e := audit.Event{What: "kubeconfig", On: r.cluster.String()}
	kubeconfig, err := r.kubeconfig()
	if wrote := r.record(e, err); wrote != nil && err == nil {
		return nil, fmt.Errorf("record that the kubeconfig of %s is handed out: %w", r.cluster, wrote)
	}
	if err != nil {
		return nil, err
	}
	h := r.w.Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", r.cluster.Namespace+"."+r.cluster.Name+".kubeconfig"))
	r.w.WriteHeader(http.StatusOK)
	_, _ = r.w.Write(kubeconfig) // the browser is gone
	return answered, nil
}

// kubeconfig is asked for with the privilege checked first.
func (r *request) kubeconfig() ([]byte, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	answer, err := r.holder.Answer(r.Context(), place.Kubeconfig(r.cluster.Namespace, r.cluster.Name))
	if err != nil {
		return nil, err
	}
	if !answer.OK {
		return nil, &commit.DeniedError{Answer: answer}
	}
	if r.s.opts.Management == nil {
		return nil, errNoManagement
	}
	return r.s.live.Kubeconfig(r.Context(), types.NamespacedName(r.cluster))
}
