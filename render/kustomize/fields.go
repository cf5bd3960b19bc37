package kustomize

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"kubehenge.dev/render/problem"
)

// allowed are the fields that a kustomization may have. The others run programs, fetch something, read the machine, write where
// the repository lies into the objects, or are an older spelling.
var allowed = []string{
	"apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "resources", "components", "patches", "labels",
	"commonAnnotations", "configMapGenerator", "generatorOptions", "replacements", "sortOptions",
}

// refused says why, for the fields of kustomize that are not allowed.
var refused = map[string]string{
	"bases":                       "may not be used here; list the folder in resources",
	"commonLabels":                "may not be used here; use labels",
	"patchesStrategicMerge":       "may not be used here; use patches",
	"patchesJson6902":             "may not be used here; use patches",
	"vars":                        "may not be used here; use replacements",
	"imageTags":                   "may not be used here; nothing in an overlay has images",
	"images":                      "may not be used here; nothing in an overlay has images",
	"replicas":                    "may not be used here; set the claim's replicas",
	"secretGenerator":             "may not be used here; no Secret is taken from Git",
	"generators":                  "may not be used here; plugins are not run",
	"transformers":                "may not be used here; plugins are not run",
	"validators":                  "may not be used here; plugins are not run",
	"helmCharts":                  "may not be used here; helm is not run, use a HelmChartProxy",
	"helmGlobals":                 "may not be used here; helm is not run, use a HelmChartProxy",
	"helmChartInflationGenerator": "may not be used here; helm is not run, use a HelmChartProxy",
	"openapi":                     "may not be used here",
	"crds":                        "may not be used here",
	"configurations":              "may not be used here",
	"buildMetadata":               "may not be used here; it writes paths into objects, and moving a folder must move nothing",
}

// checkFields judges the fields of a kustomization by their names as written. Kustomize itself takes them in any case of letters.
func (s *scan) checkFields(f *file) {
	if len(f.docs) != 1 || f.docs[0].Kind != yaml.MappingNode {
		s.tell(f.path, 0, "", "must be one YAML document with fields")
		return
	}
	root := f.docs[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		switch why, known := refused[key.Value]; {
		case known:
			s.tell(f.path, key.Line, key.Value, why)
		case key.ShortTag() != "!!str" || !isAllowed(key.Value):
			s.tell(f.path, key.Line, key.Value, "unknown field"+problem.DidYouMean(key.Value, allowed).String())
		}
	}
}

func isAllowed(name string) bool {
	for _, a := range allowed {
		if a == name {
			return true
		}
	}
	return false
}

// withoutAllowed names a field of the decoded kustomization that is set and not allowed. The names in the file were looked at before;
// this holds even where two YAML parsers should read a file differently.
func withoutAllowed(k types.Kustomization) string {
	v := reflect.ValueOf(k)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name != "" && !isAllowed(name) && !v.Field(i).IsZero() {
			return name
		}
	}
	return ""
}
