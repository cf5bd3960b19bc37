package render

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/kustomize"
	"kubehenge.dev/render/strict"
)

// ClassesFolder holds the classes, one folder each.
const ClassesFolder = "classes"

// Class is a class revision: what a cluster is made of.
type Class struct {
	// Name is the folder's, such as kubeadm-1.
	Name string
	// Distribution is kubeadm and the like; a claim may not move to another.
	Distribution string
	// Description is one or two sentences for people who choose.
	Description string
	// Maturity is Lab (not for real clusters), Preview or Stable.
	Maturity string
	// MinKubernetes and MaxKubernetes are the minor versions that it takes, both included.
	MinKubernetes, MaxKubernetes Minor
	// TemplateTagPrefix and a version make the tag of the VM template.
	TemplateTagPrefix string
	// MinControlPlaneCPU and MinControlPlaneMemoryMiB are the least that a control-plane node may have.
	MinControlPlaneCPU, MinControlPlaneMemoryMiB int64
	// Objects are the ClusterClass and its templates, in v1alpha1.SystemNamespace with v1alpha1.ClassLabel; templates first.
	Objects []*unstructured.Unstructured
	// Digest is of the objects' bytes.
	Digest string
}

// Minor is a Kubernetes minor version such as v1.36.
type Minor struct{ Major, Minor int }

// String writes v1.36.
func (m Minor) String() string { return fmt.Sprintf("v%d.%d", m.Major, m.Minor) }

// Compare is negative when m is older than o.
func (m Minor) Compare(o Minor) int { return cmp.Or(m.Major-o.Major, m.Minor-o.Minor) }

// Takes tells whether clusters of the class may be of a version.
func (c *Class) Takes(v Version) bool {
	return v.Minor.Compare(c.MinKubernetes) >= 0 && v.Minor.Compare(c.MaxKubernetes) <= 0
}

// classSpec is class.yaml as written.
type classSpec struct {
	Description       string `json:"description"`
	Maturity          string `json:"maturity"`
	Distribution      string `json:"distribution"`
	TemplateTagPrefix string `json:"templateTagPrefix"`
	Kubernetes        struct {
		Min string `json:"min"`
		Max string `json:"max"`
	} `json:"kubernetes"`
	ControlPlane struct {
		MinCPU    int32  `json:"minCPU"`
		MinMemory string `json:"minMemory"`
	} `json:"controlPlane"`
}

// classKinds are what a class's files may hold. A class reaches every cluster that uses it and no further.
var classKinds = regexp.MustCompile(`^(ClusterClass|[A-Z][A-Za-z0-9]*Template)$`)

// revisionName is what follows the distribution in a class's name.
var revisionName = regexp.MustCompile(`^-[1-9][0-9]*$`)

// loadClass reads a class. It is nil with problems.
func loadClass(tree Tree, name string) (*Class, []Problem, error) {
	file := path.Join(ClassesFolder, name, "class.yaml")
	doc, content, problems, err := readDocument(tree, file)
	if doc == nil || err != nil {
		return nil, problems, err
	}
	tell := &teller{sources: []strict.Source{{Path: file, Content: content}}, kind: "Class"}
	c := decodeClass(name, doc, tell)
	if err := loadClassObjects(tree, c, tell); err != nil {
		return nil, nil, err
	}
	if len(tell.problems) > 0 {
		return nil, tell.sorted(), nil
	}
	return c, nil, nil
}

func decodeClass(name string, doc map[string]any, tell *teller) *Class {
	var written document[classSpec]
	tell.issues(strict.Decode(doc, &written))
	spec := written.Spec
	c := &Class{Name: name, Distribution: spec.Distribution, Description: spec.Description, Maturity: spec.Maturity,
		TemplateTagPrefix: spec.TemplateTagPrefix, MinControlPlaneCPU: int64(spec.ControlPlane.MinCPU)}
	if len(tell.problems) > 0 {
		return c
	}
	if written.APIVersion != v1alpha1.GroupVersion.String() || written.Kind != "Class" {
		tell.field("kind", "must be Class of %s", v1alpha1.GroupVersion)
	}
	if written.Metadata.Name != name {
		tell.field("metadata.name", "must be the folder's name, %s", name)
	}
	if !revisionName.MatchString(strings.TrimPrefix(name, spec.Distribution)) || !strings.HasPrefix(name, spec.Distribution) {
		tell.field("spec.distribution", "the folder's name %s must be the distribution, a hyphen and the revision's number", name)
	}
	if !slices.Contains([]string{"Lab", "Preview", "Stable"}, spec.Maturity) {
		tell.field("spec.maturity", "must be Lab, Preview or Stable, is %q", spec.Maturity)
	}
	var ok bool
	if c.MinKubernetes, ok = parseMinor(spec.Kubernetes.Min); !ok {
		tell.field("spec.kubernetes.min", "must be a minor version such as v1.36")
	}
	if c.MaxKubernetes, ok = parseMinor(spec.Kubernetes.Max); !ok {
		tell.field("spec.kubernetes.max", "must be a minor version such as v1.36")
	}
	var err error
	if c.MinControlPlaneMemoryMiB, err = multiple(spec.ControlPlane.MinMemory, 8*mebibyte, mebibyte, "8Mi"); err != nil {
		tell.field("spec.controlPlane.minMemory", "%v", err)
	}
	return c
}

var minorVersion = regexp.MustCompile(`^v(\d{1,3})\.(\d{1,3})$`)

func parseMinor(text string) (Minor, bool) {
	m := minorVersion.FindStringSubmatch(text)
	if m == nil {
		return Minor{}, false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Minor{major, minor}, true
}

func loadClassObjects(tree Tree, c *Class, tell *teller) error {
	folder := path.Join(ClassesFolder, c.Name)
	entries, err := guarded{tree}.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("list %s: %w", folder, err)
	}
	for _, e := range entries {
		if e.Name() == "class.yaml" || !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		_, docs, problems, err := kustomize.ReadYAML(guarded{tree}, path.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		tell.problems = append(tell.problems, problems...)
		for _, doc := range docs {
			c.Objects = append(c.Objects, classObject(c, path.Join(folder, e.Name()), &unstructured.Unstructured{Object: doc}, tell))
		}
	}
	slices.SortStableFunc(c.Objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(boolCompare(a.GetKind() == "ClusterClass", b.GetKind() == "ClusterClass"),
			cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
	})
	checkClassObjects(c, folder, tell)
	c.Digest = digestObjects(c.Objects)
	return nil
}

func classObject(c *Class, file string, o *unstructured.Unstructured, tell *teller) *unstructured.Unstructured {
	if !classKinds.MatchString(o.GetKind()) || o.GetAPIVersion() == "" || o.GetName() == "" {
		tell.problems = append(tell.problems, Problem{Path: file, Message: fmt.Sprintf("holds a %q; a class holds a ClusterClass and templates, each with apiVersion and name", o.GetKind())})
	}
	if ns := o.GetNamespace(); ns != "" && ns != v1alpha1.SystemNamespace {
		tell.problems = append(tell.problems, Problem{Path: file, Field: "metadata.namespace", Message: "must be left out"})
	}
	o.SetNamespace(v1alpha1.SystemNamespace)
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.ClassLabel] = c.Name
	o.SetLabels(labels)
	return o
}

// checkClassObjects wants one ClusterClass of the class's name and every object's name to begin with it, so that two revisions never share one.
func checkClassObjects(c *Class, folder string, tell *teller) {
	var count int
	for _, o := range c.Objects {
		if o.GetKind() == "ClusterClass" {
			count++
		}
		if o.GetName() != c.Name && (o.GetKind() == "ClusterClass" || !strings.HasPrefix(o.GetName(), c.Name+"-")) {
			tell.problems = append(tell.problems, Problem{Path: folder, Message: fmt.Sprintf("%s %s must be named %s, or %s-... if it is a template", o.GetKind(), o.GetName(), c.Name, c.Name)})
		}
	}
	if count != 1 {
		tell.problems = append(tell.problems, Problem{Path: folder, Message: fmt.Sprintf("must hold one ClusterClass, holds %d", count)})
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
