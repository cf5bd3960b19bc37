package render

import (
	"net/netip"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/address"
	"kubehenge.dev/render/kustomize"
	"kubehenge.dev/render/strict"
)

// FleetFile is where the platform's settings are.
const FleetFile = "clusters/fleet.yaml"

// fleet is the decoded Fleet with what the checks look up in it.
type fleet struct {
	*v1alpha1.Fleet
	networks map[string]*network
	sizes    map[string]machine
	content  []byte // of the file
}

// network is one of the Fleet's networks, parsed.
type network struct {
	*v1alpha1.Network
	subnet    netip.Prefix
	gateway   netip.Addr
	nodes     address.Set
	endpoints address.Set
}

// document is the form of every file of ours: what people may write of an object.
type document[Spec any] struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

type metadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// loadFleet reads the Fleet. It is nil with problems.
func loadFleet(tree Tree) (*fleet, []Problem, error) {
	doc, content, problems, err := readDocument(tree, FleetFile)
	if doc == nil || err != nil {
		return nil, problems, err
	}
	var written document[v1alpha1.FleetSpec]
	tell := teller{sources: []strict.Source{{Path: FleetFile, Content: content}}, kind: "Fleet"}
	tell.issues(strict.Decode(doc, &written))
	if len(tell.problems) > 0 {
		return nil, tell.sorted(), nil
	}
	f := &fleet{Fleet: &v1alpha1.Fleet{Spec: written.Spec}, networks: map[string]*network{}, sizes: map[string]machine{}, content: content}
	f.TypeMeta.APIVersion, f.TypeMeta.Kind = written.APIVersion, written.Kind
	f.Name, f.Namespace, f.Labels, f.Annotations = written.Metadata.Name, written.Metadata.Namespace, written.Metadata.Labels, written.Metadata.Annotations
	defaultFleet(&f.Spec)
	for _, check := range fleetChecks {
		check.run(f, &tell)
	}
	if len(tell.problems) > 0 {
		return nil, tell.sorted(), nil
	}
	return f, nil, nil
}

func defaultFleet(spec *v1alpha1.FleetSpec) {
	if spec.Deletion.Mode == "" {
		spec.Deletion.Mode = v1alpha1.DeletionKeep
	}
	if spec.Proxmox.ISOStorage == "" {
		spec.Proxmox.ISOStorage = v1alpha1.DefaultISOStorage
	}
	if spec.Deletion.MaxPerCommit == 0 {
		spec.Deletion.MaxPerCommit = 1
	}
}

// readDocument reads a file that holds one YAML document. The document is nil with problems.
func readDocument(tree Tree, path string) (doc map[string]any, content []byte, problems []Problem, err error) {
	content, docs, problems, err := kustomize.ReadYAML(guarded{tree}, path)
	if err != nil || len(problems) > 0 {
		return nil, nil, problems, err
	}
	if len(docs) != 1 {
		return nil, nil, []Problem{{Path: path, Message: "must hold one YAML document"}}, nil
	}
	return docs[0], content, nil, nil
}
