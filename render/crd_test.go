package render_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/api/crds"
	"kubehenge.dev/render"
)

// apiServer is what an API server does with an object of a kind of ours before it stores it.
type apiServer struct {
	validator  validation.SchemaValidator
	structural *schema.Structural
}

func serve(t *testing.T, file string) apiServer {
	t.Helper()
	text, err := crds.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	return apiServer{validator, structural}
}

// accepts fails the test where the object is refused or a field of it would be dropped.
func (a apiServer) accepts(t *testing.T, object map[string]any) {
	t.Helper()
	for _, err := range validation.ValidateCustomResource(field.NewPath(""), object, a.validator) {
		t.Error(err)
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	dropped := pruning.PruneWithOptions(stored, a.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(dropped) > 0 {
		t.Errorf("would lose %v", dropped)
	}
}

// TestTheAPIServerTakesWhatIsRendered: the checks are at least as strict as the kinds' own schemas.
func TestTheAPIServerTakesWhatIsRendered(t *testing.T) {
	claims, fleets := serve(t, "kubehenge.dev_clusterclaims.yaml"), serve(t, "kubehenge.dev_fleets.yaml")
	count := 0
	for _, files := range []map[string][]byte{repository(t), variety(t), wholeExample(t)} {
		r := rendered(t, render.Memory(files))
		for _, o := range r.Overlays {
			if len(o.Objects) > 0 {
				claims.accepts(t, o.Objects[1].Object)
				count++
			}
		}
		var fleet map[string]any
		if err := yaml.Unmarshal(files[render.FleetFile], &fleet); err != nil {
			t.Fatal(err)
		}
		fleets.accepts(t, fleet)
	}
	if count < 15 {
		t.Errorf("only %d claims were looked at", count)
	}
}

func TestTheAPIServerOfTheTestRefuses(t *testing.T) {
	a := serve(t, "kubehenge.dev_clusterclaims.yaml")
	object := map[string]any{"spec": map[string]any{"class": ""}}
	if errs := validation.ValidateCustomResource(field.NewPath(""), object, a.validator); len(errs) == 0 {
		t.Error("took a claim of nothing")
	}
}
