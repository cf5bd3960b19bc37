package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	// fieldOwner owns what is installed.
	fieldOwner = client.FieldOwner("kubehenge-lab")
	// atOnce is how many objects are written at the same time.
	atOnce = 8
	// establishInterval is how often the CRDs are looked at.
	establishInterval = 100 * time.Millisecond
)

// Installer writes manifests to an API server.
type Installer struct{ client client.Client }

// New makes an Installer that acts as config's user.
func New(config *rest.Config) (*Installer, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 200, 400
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make the installer's client: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("read the API server's kinds: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := apiextensions.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{HTTPClient: httpClient, Mapper: mapper, Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make the installer's client: %w", err)
	}
	return &Installer{client: c}, nil
}

// Apply writes manifests and returns when all their CRDs are established. Namespaces go first, since the providers'
// output has no order; the rest is written side by side.
func (i *Installer) Apply(ctx context.Context, manifests ...Manifest) error {
	var first, rest []*unstructured.Unstructured
	crds := map[string]bool{}
	for _, m := range manifests {
		for _, u := range m.Objects {
			switch u.GetKind() {
			case "Namespace":
				first = append(first, u)
				continue
			case "CustomResourceDefinition":
				crds[u.GetName()] = true
			}
			rest = append(rest, u)
		}
	}
	for _, objects := range [][]*unstructured.Unstructured{first, rest} {
		if err := i.write(ctx, objects); err != nil {
			return err
		}
	}
	return i.waitEstablished(ctx, crds)
}

func (i *Installer) write(ctx context.Context, objects []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, u := range objects {
		group.Go(func() error {
			if err := i.writeOne(ctx, u); err != nil {
				return fmt.Errorf("install %s %s: %w", u.GetKind(), u.GetName(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// writeOne creates an object, which costs the API server less than an apply, and applies it where it exists.
func (i *Installer) writeOne(ctx context.Context, u *unstructured.Unstructured) error {
	err := i.client.Create(ctx, u.DeepCopy(), fieldOwner)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return i.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u.DeepCopy()), fieldOwner, client.ForceOwnership)
}

func (i *Installer) waitEstablished(ctx context.Context, names map[string]bool) error {
	ticker := time.NewTicker(establishInterval)
	defer ticker.Stop()
	for {
		missing, err := i.notEstablished(ctx, names)
		if err != nil {
			return err
		}
		if missing == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait for CRD %s to be established", missing), context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// notEstablished returns one name that is not established yet, or "".
func (i *Installer) notEstablished(ctx context.Context, names map[string]bool) (string, error) {
	for name := range names {
		crd := &apiextensions.CustomResourceDefinition{}
		if err := i.client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return "", fmt.Errorf("read CRD %s: %w", name, err)
		}
		if !established(crd) {
			return name, nil
		}
		delete(names, name)
	}
	return "", nil
}

func established(crd *apiextensions.CustomResourceDefinition) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensions.Established {
			return c.Status == apiextensions.ConditionTrue
		}
	}
	return false
}
