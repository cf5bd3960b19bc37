package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"kubehenge.dev/agent/manifests"
)

// documents are the deployment's, by kind; each of a known kind is decoded strictly.
func documents(t *testing.T) map[string]any {
	t.Helper()
	data, err := manifests.Deployment.ReadFile("deployment/agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]any{
		"ConfigMap": &corev1.ConfigMap{}, "Deployment": &appsv1.Deployment{}, "Service": &corev1.Service{},
		"PodDisruptionBudget": &policyv1.PodDisruptionBudget{}, "Issuer": &map[string]any{}, "Certificate": &map[string]any{},
	}
	reader, found := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))), map[string]any{}
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind struct{ Kind string }
		if err := sigsyaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		into := known[kind.Kind]
		if into == nil {
			t.Fatalf("a document of kind %q", kind.Kind)
		}
		if err := sigsyaml.UnmarshalStrict(doc, into); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		found[kind.Kind] = into
	}
}

func TestTheDeploymentStartsTheAgentAsItIs(t *testing.T) {
	d := documents(t)["Deployment"].(*appsv1.Deployment)
	if *d.Spec.Replicas != 2 {
		t.Errorf("%d replicas: hooks want two", *d.Spec.Replicas)
	}
	c := d.Spec.Template.Spec.Containers[0]
	if c.Args[0] != "agent" {
		t.Fatalf("it starts the verb %s", c.Args[0])
	}
	cmd := Command()
	if err := cmd.ParseFlags(c.Args[1:]); err != nil {
		t.Fatal(err)
	}
	mounted := func(path string) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return strings.HasPrefix(path, m.MountPath+"/") || path == m.MountPath
		})
	}
	for _, arg := range c.Args {
		if _, path, found := strings.Cut(arg, "=/"); found && !mounted("/"+path) {
			t.Errorf("%s: nothing is mounted there", arg)
		}
		if _, name, found := strings.Cut(arg, "=$("); found {
			name = strings.TrimSuffix(name, ")")
			if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }) {
				t.Errorf("%s: there is no such variable", arg)
			}
		}
	}
}

func TestTheDeploymentTakesItsSettingsFromItsConfigMap(t *testing.T) {
	all := documents(t)
	settings := all["ConfigMap"].(*corev1.ConfigMap)
	for _, e := range all["Deployment"].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Env {
		if e.ValueFrom == nil {
			continue
		}
		if key := e.ValueFrom.ConfigMapKeyRef; key == nil || key.Name != settings.Name || settings.Data[key.Key] == "" {
			t.Errorf("variable %s has no value in ConfigMap %s", e.Name, settings.Name)
		}
	}
}
