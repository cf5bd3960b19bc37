package capmox

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	templates      = "proxmoxmachinetemplates"
	group          = "infrastructure.cluster.x-k8s.io"
	crdName        = templates + "." + group
	storageVersion = "v1alpha2"

	dryRunCondition  = "not-topology-dry-run"
	dryRunExpression = "!(request.dryRun && has(object.metadata.annotations) && 'topology.cluster.x-k8s.io/dry-run' in object.metadata.annotations)"

	immutable = "self == oldSelf"
)

// The patches by their short names, as they stand in the hooks' settings.
const (
	// DryRun is needed by every change of a machine template: another Kubernetes version, another size.
	DryRun = "dry-run"
	// Disk is needed beside it by another disk size.
	Disk = "disk"
)

// patch is one change to the manifests; each can be made any number of times. Its purpose continues "so that".
type patch struct {
	name    string
	purpose string
	apply   func([]*unstructured.Unstructured) error
	absent  func([]*unstructured.Unstructured) (bool, error)
}

// patches are all that capmox needs.
var patches = []patch{
	{DryRun, "the webhook lets Cluster API's dry runs of changed machine templates pass", AllowTopologyDryRun, dryRunForbidden},
	{Disk, "the CRD lets a machine template's boot volume change", AllowDiskSizeChange, diskSizeForbidden},
}

// Apply makes both patches to capmox's manifests, in place. Manifests that lack a place to patch are an error: a capmox
// that has been restructured must be looked at before it is installed.
func Apply(objects []*unstructured.Unstructured) error {
	for _, p := range patches {
		if err := p.apply(objects); err != nil {
			return fmt.Errorf("patch capmox so that %s: %w", p.purpose, err)
		}
	}
	return nil
}

// AllowTopologyDryRun adds a match condition to the validating webhook for machine templates.
func AllowTopologyDryRun(objects []*unstructured.Unstructured) error {
	hooks, err := templateWebhooks(objects)
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		conditions, _ := hook["matchConditions"].([]any)
		conditions = slices.DeleteFunc(conditions, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["name"] == dryRunCondition
		})
		hook["matchConditions"] = append(conditions, map[string]any{"name": dryRunCondition, "expression": dryRunExpression})
	}
	return nil
}

func dryRunForbidden(objects []*unstructured.Unstructured) (bool, error) {
	hooks, err := templateWebhooks(objects)
	if err != nil {
		return false, err
	}
	for _, hook := range hooks {
		conditions, _ := hook["matchConditions"].([]any)
		if !slices.ContainsFunc(conditions, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["expression"] == dryRunExpression
		}) {
			return true, nil
		}
	}
	return false, nil
}

// templateWebhooks returns the entries of validating webhooks that are asked about machine templates.
func templateWebhooks(objects []*unstructured.Unstructured) ([]map[string]any, error) {
	var found []map[string]any
	for _, u := range objects {
		if u.GetKind() != "ValidatingWebhookConfiguration" {
			continue
		}
		hooks, _ := u.Object["webhooks"].([]any)
		for _, h := range hooks {
			if hook, ok := h.(map[string]any); ok && asksAboutTemplates(hook) {
				found = append(found, hook)
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no ValidatingWebhookConfiguration has a webhook for %s", crdName)
	}
	return found, nil
}

func asksAboutTemplates(hook map[string]any) bool {
	rules, _ := hook["rules"].([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		groups, _ := rule["apiGroups"].([]any)
		resources, _ := rule["resources"].([]any)
		if slices.Contains(groups, any(group)) && slices.Contains(resources, any(templates)) {
			return true
		}
	}
	return false
}

// AllowDiskSizeChange removes the rule that a machine template's boot volume never changes, from all versions of the CRD.
// The CRD of proxmoxmachines keeps its rule.
func AllowDiskSizeChange(objects []*unstructured.Unstructured) error {
	volumes, err := bootVolumes(objects)
	if err != nil {
		return err
	}
	for _, volume := range volumes {
		rules, _ := volume["x-kubernetes-validations"].([]any)
		rules = slices.DeleteFunc(rules, isImmutableRule)
		if len(rules) == 0 {
			delete(volume, "x-kubernetes-validations")
		} else {
			volume["x-kubernetes-validations"] = rules
		}
	}
	return nil
}

func diskSizeForbidden(objects []*unstructured.Unstructured) (bool, error) {
	volumes, err := bootVolumes(objects)
	if err != nil {
		return false, err
	}
	for _, volume := range volumes {
		rules, _ := volume["x-kubernetes-validations"].([]any)
		if slices.ContainsFunc(rules, isImmutableRule) {
			return true, nil
		}
	}
	return false, nil
}

func isImmutableRule(r any) bool {
	rule, _ := r.(map[string]any)
	return rule["rule"] == immutable
}

// bootVolumes returns the schema of the boot volume in every version of the machine templates' CRD that has one.
func bootVolumes(objects []*unstructured.Unstructured) ([]map[string]any, error) {
	i := slices.IndexFunc(objects, func(u *unstructured.Unstructured) bool {
		return u.GetKind() == "CustomResourceDefinition" && u.GetName() == crdName
	})
	if i < 0 {
		return nil, fmt.Errorf("no CustomResourceDefinition %s", crdName)
	}
	spec, _ := objects[i].Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var found []map[string]any
	inStorage := false
	for _, v := range versions {
		version, _ := v.(map[string]any)
		volume, ok := bootVolume(version)
		if !ok {
			continue
		}
		found = append(found, volume)
		inStorage = inStorage || version["name"] == storageVersion
	}
	if !inStorage {
		return nil, errors.New("CustomResourceDefinition " + crdName + " has no spec.template.spec.disks.bootVolume in " + storageVersion)
	}
	return found, nil
}

func bootVolume(version map[string]any) (map[string]any, bool) {
	at, _ := version["schema"].(map[string]any)
	at, _ = at["openAPIV3Schema"].(map[string]any)
	for _, field := range []string{"spec", "template", "spec", "disks", "bootVolume"} {
		properties, _ := at["properties"].(map[string]any)
		at, _ = properties[field].(map[string]any)
	}
	return at, at != nil
}
