package volumes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Bounds on what a workload cluster may make the agent do.
const (
	// workloadTimeout is how long one answer may take.
	workloadTimeout = 10 * time.Second
	// maxAnswer is how large it may be, in bytes, and pageSize how many objects are asked for at once.
	maxAnswer, pageSize = 8 << 20, 500
	// maxPersistentVolumes is how many are looked at in one cluster.
	maxPersistentVolumes = 20000
	// keptConnections is to how many clusters connections are kept.
	keptConnections = 64
	// keptFor is how long before a kubeconfig is read again.
	keptFor = 10 * time.Minute
)

// Workloads asks workload clusters, with the kubeconfigs that Cluster API made for them. Safe for concurrent use.
type Workloads struct {
	secrets client.Reader
	now     func() time.Time
	kept    *lru.Cache
}

// NewWorkloads reads kubeconfigs with secrets, which should not cache them, and tells time by now.
func NewWorkloads(secrets client.Reader, now func() time.Time) *Workloads {
	return &Workloads{secrets: secrets, now: now, kept: lru.NewWithEvictionFunc(keptConnections, func(_ lru.Key, v any) {
		v.(*workload).client.CloseIdleConnections()
	})}
}

// workload is one cluster's API.
type workload struct {
	client *http.Client
	base   string
	until  time.Time
}

// PersistentVolumes are those of a cluster. An answer that fails has the kubeconfig read again the next time.
func (w *Workloads) PersistentVolumes(ctx context.Context, cluster types.NamespacedName) ([]PersistentVolume, error) {
	api, err := w.connect(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("reach cluster %s: %w", cluster, err)
	}
	list, err := api.persistentVolumes(ctx)
	if err != nil {
		w.kept.Remove(cluster)
		return nil, fmt.Errorf("list PersistentVolumes of cluster %s: %w", cluster, err)
	}
	return list, nil
}

func (w *Workloads) connect(ctx context.Context, cluster types.NamespacedName) (*workload, error) {
	if kept, ok := w.kept.Get(cluster); ok && w.now().Before(kept.(*workload).until) {
		return kept.(*workload), nil
	}
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name + "-kubeconfig"}
	if err := w.secrets.Get(ctx, key, secret); err != nil {
		return nil, err
	}
	config, err := strictConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("kubeconfig in Secret %s: %w", key, err)
	}
	api, err := newWorkload(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig in Secret %s: %w", key, err)
	}
	api.until = w.now().Add(keptFor)
	w.kept.Add(cluster, api)
	return api, nil
}

// strictConfig reads a kubeconfig as Cluster API makes them. One that would have the agent run a program, read its own
// files or skip verification is refused: the Secret is in a namespace that others may write to.
func strictConfig(data []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		return nil, errors.New("it does not read") // the error may show what it holds
	}
	switch {
	case config.ExecProvider != nil || config.AuthProvider != nil:
		return nil, errors.New("it names a program to sign in with")
	case config.BearerTokenFile != "" || config.CertFile != "" || config.KeyFile != "" || config.CAFile != "":
		return nil, errors.New("it names files")
	case config.Insecure || len(config.CAData) == 0 || !strings.HasPrefix(config.Host, "https://"):
		return nil, errors.New("it does not verify the server")
	case config.Proxy != nil:
		return nil, errors.New("it names a proxy")
	}
	return config, nil
}

// newWorkload is a client that shares nothing with others, so that it can be dropped whole. (Client-go keeps every
// transport it ever made.)
func newWorkload(config *rest.Config) (*workload, error) {
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, errors.New("its certificates do not read")
	}
	transport, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig: tls, MaxIdleConnsPerHost: 1, IdleConnTimeout: 2 * time.Minute, TLSHandshakeTimeout: workloadTimeout,
		ForceAttemptHTTP2: false, MaxResponseHeaderBytes: 64 << 10,
	})
	if err != nil {
		return nil, err
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &workload{
		client: &http.Client{Transport: transport, Timeout: workloadTimeout, CheckRedirect: stay},
		base:   strings.TrimRight(config.Host, "/"),
	}, nil
}

// persistentVolumeList is as much of the API's answer as is read.
type persistentVolumeList struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Name        string            `json:"name"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			Policy string `json:"persistentVolumeReclaimPolicy"`
			Claim  struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"claimRef"`
			CSI struct {
				Driver string `json:"driver"`
				Handle string `json:"volumeHandle"`
			} `json:"csi"`
		} `json:"spec"`
		Status struct {
			Phase string `json:"phase"`
		} `json:"status"`
	} `json:"items"`
}

func (w *workload) persistentVolumes(ctx context.Context) ([]PersistentVolume, error) {
	var all []PersistentVolume
	next := ""
	for {
		page := persistentVolumeList{}
		query := url.Values{"limit": {fmt.Sprint(pageSize)}}
		if next != "" {
			query.Set("continue", next)
		}
		if err := w.get(ctx, "/api/v1/persistentvolumes?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			all = append(all, PersistentVolume{
				Name: i.Metadata.Name, Driver: i.Spec.CSI.Driver, Handle: i.Spec.CSI.Handle, Policy: i.Spec.Policy, Phase: i.Status.Phase,
				Lifecycle:      i.Metadata.Annotations[lifecycleAnnotation],
				ClaimNamespace: i.Spec.Claim.Namespace, ClaimName: i.Spec.Claim.Name,
			})
		}
		if next = page.Metadata.Continue; next == "" {
			return all, nil
		}
		if len(all) >= maxPersistentVolumes || len(page.Items) == 0 {
			return nil, fmt.Errorf("there is no end to them after %d", len(all))
		}
	}
}

func (w *workload) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := w.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("its answer is longer than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("its answer does not read: %w", err)
	}
	return nil
}
