package hooks

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// askedAnnotation on the ExtensionConfig is when the agent last asked Cluster API to look for the hooks again.
const askedAnnotation = "kubehenge.dev/asked"

// How often the Registration is looked at, once it is good and before.
const (
	restGood = 15 * time.Second
	restBad  = 500 * time.Millisecond
	// askEvery is how often Cluster API is asked to look again: by itself it waits up to 17 minutes after failures.
	askEvery = 5 * time.Second
)

// Registration keeps the ExtensionConfig by which Cluster API finds the hooks. It is a manager's Runnable for the
// leader: the hooks are the same on every replica, and one Service or URL leads to all of them.
type Registration struct {
	// Client writes, Direct reads from the API server.
	Client client.Client
	Direct client.Reader
	// Where is the URL of the hooks, or namespace/name:port of their Service.
	Where string
	// CAFile holds the certificates that vouch for the hooks' own. It is read again each time.
	CAFile string
	// Clock is the time.
	Clock clock.WithTicker
	// Found is called when Cluster API has found the hooks for the first time; nil calls nothing.
	Found func()
	// Lacks are the patches that the installed capmox lacks, and whether that is known yet; nil never knows. Again has
	// it looked at before its time; nil never does.
	Lacks func() (missing []string, known bool)
	Again <-chan struct{}

	mu    sync.Mutex
	found bool
}

// NeedLeaderElection keeps the Registration to the leader.
func (*Registration) NeedLeaderElection() bool { return true }

// Start works until the context ends.
func (r *Registration) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("hooks"))
	said := ""
	for {
		found, err := r.keep(ctx)
		if err != nil && err.Error() != said {
			log.FromContext(ctx).Error(err, "Could not register the hooks; trying again")
			said = err.Error()
		}
		r.note(found && err == nil)
		rest := restBad
		if found && err == nil {
			rest, said = restGood, ""
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.Clock.After(rest):
		case <-r.Again:
		}
	}
}

func (r *Registration) note(found bool) {
	r.mu.Lock()
	first := found && !r.found
	r.found = r.found || found
	r.mu.Unlock()
	if first && r.Found != nil {
		r.Found()
	}
}

// Ready is nil once Cluster API has found the hooks. Before, a cluster of a class that names them would be tried in
// vain, with longer and longer pauses.
func (r *Registration) Ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found {
		return nil
	}
	return &status.Told{Kind: status.Waiting, Reason: "HooksUnknown", Sentence: "waiting for Cluster API to find the agent's hooks"}
}

// keep looks at the ExtensionConfig, puts right what is not as it should be, and says whether Cluster API has found
// the hooks.
func (r *Registration) keep(ctx context.Context) (found bool, err error) {
	live := &runtimev1.ExtensionConfig{}
	err = r.Direct.Get(ctx, client.ObjectKey{Name: v1alpha1.HooksName}, live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read ExtensionConfig %s: %w", v1alpha1.HooksName, err)
	}
	exists := !apierrors.IsNotFound(err)
	now := r.Clock.Now()
	file, err := os.ReadFile(r.CAFile)
	if err != nil {
		return false, fmt.Errorf("read the CA of the hooks: %w", err)
	}
	ca, err := bundle(file, live.Spec.ClientConfig.CABundle, now)
	if err != nil {
		return false, fmt.Errorf("read the CA of the hooks in %s: %w", r.CAFile, err)
	}
	want, err := clientConfig(r.Where, ca)
	if err != nil {
		return false, err
	}
	settings := r.settings(live.Spec.Settings)
	found = exists && discovered(live)
	good := exists && equality.Semantic.DeepEqual(live.Spec.ClientConfig, want) && equality.Semantic.DeepEqual(live.Spec.Settings, settings)
	asked := live.Annotations[askedAnnotation]
	if good && (found || !due(asked, now)) {
		return found, nil
	}
	if good {
		asked = now.UTC().Format(time.RFC3339)
	}
	return false, r.apply(ctx, want, settings, asked)
}

// settings are what each hook is sent. What an earlier leader saw of capmox stays until this one has looked.
func (r *Registration) settings(live map[string]string) map[string]string {
	lacks, known := live[v1alpha1.CapmoxSetting]
	if r.Lacks != nil {
		if missing, looked := r.Lacks(); looked {
			lacks, known = strings.Join(missing, ","), true
		}
	}
	if !known {
		return nil
	}
	return map[string]string{v1alpha1.CapmoxSetting: lacks}
}

// due is true when Cluster API may be asked to look again.
func due(asked string, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, asked)
	return err != nil || now.Sub(at) >= askEvery
}

// discovered is true when Cluster API knows the hooks as the present spec has them.
func discovered(live *runtimev1.ExtensionConfig) bool {
	for _, c := range live.Status.Conditions {
		if c.Type == runtimev1.ExtensionConfigDiscoveredCondition {
			return c.Status == metav1.ConditionTrue && len(live.Status.Handlers) == len(handlers(nil))
		}
	}
	return false
}

func (r *Registration) apply(ctx context.Context, want runtimev1.ClientConfig, settings map[string]string, asked string) error {
	config := map[string]any{"caBundle": base64.StdEncoding.EncodeToString(want.CABundle)}
	if want.URL != "" {
		config["url"] = want.URL
	} else {
		config["service"] = map[string]any{"namespace": want.Service.Namespace, "name": want.Service.Name, "port": int64(*want.Service.Port)}
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": runtimev1.GroupVersion.String(), "kind": "ExtensionConfig",
		"metadata": map[string]any{"name": v1alpha1.HooksName},
		"spec":     map[string]any{"clientConfig": config, "namespaceSelector": map[string]any{}},
	}}
	if len(settings) > 0 {
		spec, _ := u.Object["spec"].(map[string]any)
		values := map[string]any{}
		for name, value := range settings {
			values[name] = value
		}
		spec["settings"] = values
	}
	if asked != "" {
		u.SetAnnotations(map[string]string{askedAnnotation: asked})
	}
	err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1alpha1.HooksFieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply ExtensionConfig %s: %w", v1alpha1.HooksName, err)
	}
	return nil
}

// clientConfig says where the hooks are.
func clientConfig(where string, ca []byte) (runtimev1.ClientConfig, error) {
	config := runtimev1.ClientConfig{CABundle: ca}
	if u, err := url.Parse(where); err == nil && u.Scheme == "https" && u.Host != "" {
		config.URL = where
		return config, nil
	}
	name, service, ok := strings.Cut(where, ":")
	namespace, name, named := strings.Cut(name, "/")
	port, err := strconv.ParseInt(service, 10, 32)
	if !ok || !named || namespace == "" || name == "" || err != nil || port < 1 || port > 65535 {
		return config, fmt.Errorf("the hooks' place %q is neither a URL with https nor namespace/name:port of a Service", where)
	}
	number := int32(port)
	config.Service = runtimev1.ServiceReference{Namespace: namespace, Name: name, Port: &number}
	return config, nil
}
