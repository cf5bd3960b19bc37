package edit

import (
	"fmt"

	"kubehenge.dev/api/v1alpha1"
)

// SetVersion writes the Kubernetes version.
func SetVersion(content []byte, version string) ([]byte, error) {
	return Set(content, "spec.version", version)
}

// SetEndpoint writes the control plane's address.
func SetEndpoint(content []byte, endpoint string) ([]byte, error) {
	return Set(content, "spec.endpoint", endpoint)
}

// SetState writes the wanted state; Running, the default, takes the field away.
func SetState(content []byte, state v1alpha1.State) ([]byte, error) {
	if state == v1alpha1.StateRunning {
		return Delete(content, "spec.state")
	}
	return Set(content, "spec.state", string(state))
}

// ControlPlane is the place of the control plane's fields, for SetReplicas and SetSize.
const ControlPlane = "spec.controlPlane"

// Pool is the place of a worker pool's fields: spec.workers where the claim has no pools and the name is "workers", spec.pools[i] otherwise.
func Pool(content []byte, name string) (string, error) {
	pools, err := Get(content, "spec.pools")
	if err != nil {
		return "", err
	}
	list, _ := pools.([]any)
	for i, item := range list {
		if fields, ok := item.(map[string]any); ok && fields["name"] == name {
			return fmt.Sprintf("spec.pools[%d]", i), nil
		}
	}
	if workers, err := Get(content, "spec.workers"); err == nil && workers != nil && name == "workers" {
		return "spec.workers", nil
	}
	return "", fmt.Errorf("the claim has no pool %q", name)
}

// SetReplicas writes the number of nodes of the control plane or of a pool's place.
func SetReplicas(content []byte, place string, replicas int32) ([]byte, error) {
	return Set(content, place+".replicas", replicas)
}

// SetSize writes the size of the control plane's or of a pool's machines: a name of the Fleet's, or cpu, memory and disk.
func SetSize(content []byte, place string, size v1alpha1.MachineSize) (changed []byte, err error) {
	changed = content
	for _, f := range []struct {
		name  string
		value any
		given bool
	}{
		{"size", size.Size, size.Size != ""},
		{"cpu", size.CPU, size.CPU != 0},
		{"memory", size.Memory, size.Memory != ""},
		{"disk", size.Disk, size.Disk != ""},
	} {
		if f.given {
			changed, err = Set(changed, place+"."+f.name, f.value)
		} else {
			changed, err = Delete(changed, place+"."+f.name)
		}
		if err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// AddPool adds a worker pool. A claim with workers keeps them as the pool of that name.
func AddPool(content []byte, pool v1alpha1.Pool) ([]byte, error) {
	if place, err := Pool(content, pool.Name); err == nil {
		return nil, fmt.Errorf("the claim has a pool %q at %s", pool.Name, place)
	}
	workers, err := Get(content, "spec.workers")
	if err != nil {
		return nil, err
	}
	added := poolFields(pool)
	if fields, ok := workers.(map[string]any); ok {
		fields["name"] = "workers"
		if content, err = Set(content, "spec.pools", []any{fields, added}); err != nil {
			return nil, err
		}
		return Delete(content, "spec.workers")
	}
	pools, err := Get(content, "spec.pools")
	if err != nil {
		return nil, err
	}
	list, _ := pools.([]any)
	if len(list) == 0 {
		return Set(content, "spec.pools", []any{added})
	}
	return Set(content, fmt.Sprintf("spec.pools[%d]", len(list)), added)
}

// RemovePool takes a worker pool away.
func RemovePool(content []byte, name string) ([]byte, error) {
	place, err := Pool(content, name)
	if err != nil {
		return nil, err
	}
	pools, err := Get(content, "spec.pools")
	if err != nil {
		return nil, err
	}
	if list, ok := pools.([]any); ok && len(list) == 1 {
		place = "spec.pools"
	}
	return Delete(content, place)
}

func poolFields(p v1alpha1.Pool) map[string]any {
	fields := map[string]any{"name": p.Name, "replicas": p.Replicas}
	for name, value := range map[string]string{"size": p.Size, "memory": p.Memory, "disk": p.Disk} {
		if value != "" {
			fields[name] = value
		}
	}
	if p.CPU != 0 {
		fields["cpu"] = p.CPU
	}
	return fields
}
