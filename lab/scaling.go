package lab

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/providers"
	"kubehenge.dev/lab/install"
)

// scaler runs a provider's process while its Deployment asks for one: in an installation that is the business of
// Kubernetes itself, which has no Pods here.
type scaler struct {
	lab    *Lab
	client client.WithWatch
	// managers are the scaled providers by their Deployment's name, with their place in the list of managers.
	managers map[types.NamespacedName]int
}

// scaledManagers are the managers that the agent may scale, by their Deployment.
func scaledManagers() map[types.NamespacedName]int {
	out := map[types.NamespacedName]int{}
	for _, list := range providers.Deployments {
		for _, deployment := range list {
			for i, m := range managers {
				if m.namespace == deployment.Namespace {
					out[deployment] = i
				}
			}
		}
	}
	return out
}

// isScaled is true for a manager that runs only while its Deployment asks for it.
func isScaled(i int) bool {
	for _, at := range scaledManagers() {
		if at == i {
			return true
		}
	}
	return false
}

// scales is true when the agent scales providers, which then do not run at first.
func (l *Lab) scales() bool { return !l.options.WithoutAgent && !l.options.WithoutClusterAPI }

// deployments are those of the scaled providers, with no instance.
func (l *Lab) deployments() (install.Manifest, error) {
	out := install.Manifest{Name: "the scaled providers"}
	for _, i := range scaledManagers() {
		data, err := os.ReadFile(l.programs.Manifests[managers[i].name])
		if err != nil {
			return out, fmt.Errorf("read the manifests of %s: %w", managers[i].name, err)
		}
		manifest, err := install.Parse(managers[i].name, data)
		if err != nil {
			return out, err
		}
		for _, u := range manifest.Objects {
			if u.GetKind() != "Deployment" {
				continue
			}
			if err := unstructured.SetNestedField(u.Object, int64(0), "spec", "replicas"); err != nil {
				return out, fmt.Errorf("scale %s: %w", managers[i].name, err)
			}
			out.Objects = append(out.Objects, u)
		}
	}
	return out, nil
}

// startScaler follows the Deployments until the lab stops.
func (l *Lab) startScaler(context.Context) error {
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.NewWithWatch(l.Config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("make a client of the management cluster: %w", err)
	}
	s := &scaler{lab: l, client: c, managers: scaledManagers()}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for key, i := range s.managers {
		running.Go(func() { s.follow(ctx, key, i) })
	}
	l.onStop(func() {
		stop()
		running.Wait()
	})
	return nil
}

// watchAgain is the pause after a watch that ended, as when the API server is restarted.
const watchAgain = 300 * time.Millisecond

// follow scales one provider whenever its Deployment changes.
func (s *scaler) follow(ctx context.Context, key types.NamespacedName, i int) {
	for ctx.Err() == nil {
		if err := s.watch(ctx, key, i); err != nil && ctx.Err() == nil {
			s.lab.progress.Printf("scaling %s: %v", managers[i].name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchAgain):
		}
	}
}

func (s *scaler) watch(ctx context.Context, key types.NamespacedName, i int) error {
	events, err := s.client.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
	if err != nil {
		return nil // the API server is away
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if deployment, ok := event.Object.(*appsv1.Deployment); ok {
			if err := s.scale(ctx, deployment, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// scale starts or stops the process and says so in the Deployment's status.
func (s *scaler) scale(ctx context.Context, d *appsv1.Deployment, i int) error {
	want := d.Spec.Replicas == nil || *d.Spec.Replicas > 0
	name := managers[i].name
	runs := s.lab.Processes.Has(name)
	switch {
	case want && !runs:
		spec, err := s.lab.manager(managers[i], i)
		if err != nil {
			return err
		}
		if err := s.lab.Processes.Start(ctx, spec); err != nil {
			return err
		}
		s.lab.progress.Printf("started %s, which the agent wants", name)
	case !want && runs:
		if err := s.lab.Processes.End(name); err != nil {
			return err
		}
		s.lab.progress.Printf("stopped %s, which the agent wants no more", name)
	}
	return s.tell(ctx, d, want)
}

func (s *scaler) tell(ctx context.Context, d *appsv1.Deployment, runs bool) error {
	status := appsv1.DeploymentStatus{ObservedGeneration: d.Generation}
	if runs {
		status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas = 1, 1, 1, 1
	}
	if d.Status.ObservedGeneration == status.ObservedGeneration && d.Status.Replicas == status.Replicas {
		return nil
	}
	d = d.DeepCopy()
	d.Status = status
	if err := s.client.Status().Update(ctx, d); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of Deployment %s: %w", d.Name, err)
	}
	return nil
}
