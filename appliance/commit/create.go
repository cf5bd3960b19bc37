package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"

	"k8s.io/apimachinery/pkg/util/validation"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
	"kubehenge.dev/render/address"
	"kubehenge.dev/render/edit"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

// Create makes a new cluster of a claim with namespace, name and spec. An empty endpoint gets the network's next free one, and ranges that are left
// out and are not clear of the network get ranges that are.
func (w *Writer) Create(ctx context.Context, who Person, claim *v1alpha1.ClusterClaim) (*Result, error) {
	return w.commit(ctx, who, func(s *State) (*proposal, error) {
		files, err := newFiles(s, Complete(s.Rendering, claim))
		if err != nil {
			if denied := mayCreate(ctx, who, s, claim); denied != nil {
				err = denied
			}
			return nil, err
		}
		return &proposal{subject: fmt.Sprintf("Create %s/%s", claim.Namespace, claim.Name), files: files}, nil
	})
}

// mayCreate is a *DeniedError for who may create nothing: they do not learn which names are taken.
func mayCreate(ctx context.Context, who Person, s *State, claim *v1alpha1.ClusterClaim) error {
	if s.Rendering.Fleet == nil {
		return nil // nobody but an administrator of Proxmox VE gets further
	}
	place := permission.PlaceOf(&s.Rendering.Fleet.Spec, nil)
	name := &v1alpha1.ClusterClaim{} // storage and network take more, and come later
	name.Namespace, name.Name = claim.Namespace, claim.Name
	answer, err := who.May(ctx, place.Create(name)...)
	if err == nil && !answer.OK {
		err = &DeniedError{answer}
	}
	return err
}

// Preview is the file that Create would commit for a claim as far as it is given.
func (w *Writer) Preview(ctx context.Context, claim *v1alpha1.ClusterClaim) (string, error) {
	s, err := w.Current(ctx)
	if err != nil {
		return "", err
	}
	content, err := write(Complete(s.Rendering, claim))
	return string(content), err
}

var (
	nameMissing = told.Define("name-missing", "namespace and name must be given, each of small letters, digits and dashes and beginning with a letter; one is {name}")
	nameTaken   = told.Define("name-taken", "there is a cluster of this name already")
	folderTaken = told.Define("folder-taken", "there is something in this folder already")
)

func problemOf(path, field string, s told.Sentence) render.Problem {
	return render.Problem{Path: path, Field: field, Message: s.String(), Told: s.In("message")}
}

func newFiles(s *State, claim *v1alpha1.ClusterClaim) (map[string][]byte, error) {
	folder := path.Join(render.ClustersFolder, claim.Namespace, claim.Name)
	for _, name := range []string{claim.Namespace, claim.Name} { // they become a folder, lines of YAML and the commit's subject
		if len(validation.IsDNS1035Label(name)) > 0 {
			return nil, &ProblemsError{[]render.Problem{problemOf(render.ClustersFolder, "metadata.name", nameMissing.With(told.Params{"name": fmt.Sprintf("%.80q", name)}))}}
		}
	}
	for _, o := range s.Rendering.Overlays {
		if o.Namespace == claim.Namespace && o.Name == claim.Name {
			p := o.Problem("metadata.name", nameTaken.With(nil).String())
			p.Told = nameTaken.With(nil).In("message")
			return nil, &ProblemsError{[]render.Problem{p}}
		}
	}
	if _, err := s.Tree.ReadDir(folder); !errors.Is(err, fs.ErrNotExist) {
		return nil, &ProblemsError{[]render.Problem{problemOf(folder, "", folderTaken.With(nil))}}
	}
	content, err := write(claim)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		folder + "/claim.yaml": content,
		folder + "/kustomization.yaml": fmt.Appendf(nil, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: %s\nresources:\n- claim.yaml\n",
			claim.Namespace),
	}, nil
}

// write writes a claim as people write one: what is left out is left out.
func write(claim *v1alpha1.ClusterClaim) ([]byte, error) {
	content := fmt.Appendf(nil, "apiVersion: %s\nkind: ClusterClaim\nmetadata:\n  name: x\nspec:\n  class: x\n", v1alpha1.GroupVersion)
	spec, err := plain(claim.Spec)
	if err != nil {
		return nil, err
	}
	if content, err = edit.Set(content, "metadata.name", claim.Name); err != nil {
		return nil, err
	}
	for _, field := range []string{"class", "version", "network", "endpoint", "controlPlane", "workers", "pools", "nodes", "storage", "podCIDR", "serviceCIDR"} {
		value, given := spec[field]
		if !given || value == "" && field != "class" {
			continue
		}
		if content, err = edit.Set(content, "spec."+field, value); err != nil {
			return nil, err
		}
	}
	return content, nil
}

// Complete is a copy of a claim with what the interface chooses where the person left it open.
func Complete(r *render.Rendering, claim *v1alpha1.ClusterClaim) *v1alpha1.ClusterClaim {
	c := claim.DeepCopy()
	if r.Fleet == nil {
		return c
	}
	for _, n := range r.Fleet.Spec.Networks {
		if n.Name != c.Spec.Network {
			continue
		}
		if c.Spec.Endpoint == "" {
			c.Spec.Endpoint = FreeEndpoint(r, n.Name)
		}
		if subnet, err := netip.ParsePrefix(n.Subnet); err == nil {
			chooseRanges(&c.Spec, subnet)
		}
	}
	return c
}

// FreeEndpoint is the first of a network's endpoints that no claim names; empty when all are taken or there is no such network.
func FreeEndpoint(r *render.Rendering, network string) string {
	if r.Fleet == nil {
		return ""
	}
	taken := map[string]bool{}
	for _, o := range r.Overlays {
		if o.Claim != nil && o.Claim.Spec.Network == network {
			taken[o.Claim.Spec.Endpoint] = true
		}
	}
	for _, n := range r.Fleet.Spec.Networks {
		if n.Name != network {
			continue
		}
		for _, text := range n.Endpoints {
			if free := firstFree(text, taken); free != "" {
				return free
			}
		}
	}
	return ""
}

func firstFree(text string, taken map[string]bool) string {
	r, err := address.Parse(text)
	if err != nil {
		return ""
	}
	for a := r.First; a.IsValid() && !r.Last.Less(a); a = a.Next() {
		if !taken[a.String()] {
			return a.String()
		}
	}
	return ""
}

// The ranges that are chosen from, the distribution's own first. They are private, and wide enough for a cluster of the greatest size.
var (
	podRanges     = []string{"10.244.0.0/16", "172.20.0.0/16", "192.168.0.0/16"}
	serviceRanges = []string{"10.96.0.0/12", "172.24.0.0/16", "10.43.0.0/16"}
)

// chooseRanges writes ranges where those that are meant by leaving them out are not clear of the nodes' network or of each other.
func chooseRanges(spec *v1alpha1.ClusterClaimSpec, subnet netip.Prefix) {
	pods := chooseRange(&spec.PodCIDR, podRanges, subnet, parsed(spec.ServiceCIDR))
	chooseRange(&spec.ServiceCIDR, serviceRanges, subnet, pods)
}

func chooseRange(field *string, ranges []string, clearOf ...netip.Prefix) netip.Prefix {
	if *field != "" {
		return parsed(*field)
	}
	for i, text := range ranges {
		p := parsed(text)
		if overlaps(p, clearOf) {
			continue
		}
		if i > 0 {
			*field = text
		}
		return p
	}
	return netip.Prefix{}
}

// parsed is the range of a text; the zero one, which overlaps nothing, where it is none.
func parsed(text string) netip.Prefix {
	p, _ := netip.ParsePrefix(text)
	return p
}

func overlaps(p netip.Prefix, others []netip.Prefix) bool {
	for _, o := range others {
		if p.Overlaps(o) {
			return true
		}
	}
	return false
}
