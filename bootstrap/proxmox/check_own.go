package proxmox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	pve "kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// CheckOwn asks Proxmox VE as each prepared token what it may do, and compares that with what it should. It needs no
// administrator, and sees only rights: nothing of storages, templates or other users. clients are by the identities'
// names; a token that is not in it is not looked at.
func CheckOwn(ctx context.Context, clients map[string]*pve.Client, fleet *v1alpha1.Fleet) ([]Finding, error) {
	place := PlaceOf(fleet, nil)
	var list []Finding
	for _, i := range access.Identities(place) {
		client := clients[i.Name()]
		if client == nil {
			continue
		}
		f := &findings{check: "token " + i.Token}
		if err := checkOwn(ctx, client, i, place, f); err != nil {
			return nil, fmt.Errorf("check token %s: %w", i.Token, err)
		}
		list = append(list, f.list...)
	}
	return list, nil
}

func checkOwn(ctx context.Context, client *pve.Client, i access.Identity, place access.Place, f *findings) error {
	release, err := client.Version(ctx)
	if pve.Is(err, pve.Unauthorized) {
		f.wrong("kubehenge proxmox prepare --renew "+i.Name(), "Proxmox VE does not take the token's secret")
		return nil
	}
	if err != nil {
		return err
	}
	version, err := access.VersionOf(release)
	if err != nil {
		return err
	}
	has, err := client.Privileges(ctx)
	if err != nil {
		return err
	}
	e := expectation{identity: i, version: version, place: withZones(place, has)}
	for _, path := range e.paths() {
		if lacks := minus(e.on(path), has[path]); len(lacks) > 0 {
			f.missing("it lacks %s on %s", strings.Join(lacks, " "), path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(has)) {
		if more := minus(has[path], e.on(path)); len(more) > 0 {
			f.surplus("", "it has %s on %s, which it does not need", strings.Join(more, " "), path)
		}
	}
	return nil
}

// withZones finds the zones of VNets among the paths that the token has something on: it may not list VNets.
func withZones(place access.Place, has map[string][]string) access.Place {
	place.Bridges = slices.Clone(place.Bridges)
	for i, b := range place.Bridges {
		if _, there := has["/sdn/zones/"+b]; there {
			continue
		}
		_, bridge, _ := strings.Cut(b, "/")
		for path := range has {
			if zoned, ok := strings.CutPrefix(path, "/sdn/zones/"); ok && strings.HasSuffix(zoned, "/"+bridge) {
				place.Bridges[i] = zoned
			}
		}
	}
	return place
}

// expectation is what a token should have.
type expectation struct {
	identity access.Identity
	version  access.Version
	place    access.Place
}

func (e expectation) grants() []access.Grant {
	return slices.DeleteFunc(access.For(e.place), func(g access.Grant) bool { return g.User != e.identity.User })
}

// paths are those that it should have something on by an entry of its own.
func (e expectation) paths() []string {
	var list []string
	for _, g := range e.grants() {
		list = append(list, g.Paths(e.place)...)
	}
	return list
}

// on is what it should have on a path: what the deepest entry gives, and on what is in a pool what the pool gives too
// (pve-access-control PVE/RPCEnvironment.pm, permissions).
func (e expectation) on(path string) []string {
	privileges := e.own(path)
	name, storage := strings.CutPrefix(path, "/storage/")
	switch {
	case storage && slices.Contains(e.place.Disks, name):
		privileges = append(privileges, e.own("/pool/"+e.place.WorkloadPool)...)
	case strings.HasPrefix(path, "/vms/"):
		privileges = append(privileges, e.own("/pool/"+e.place.WorkloadPool)...)
		privileges = append(privileges, e.own("/pool/"+e.place.TemplatePool)...)
	}
	return privileges
}

// own is what the deepest entry gives.
func (e expectation) own(path string) []string {
	var found []string
	deepest := -1
	for _, g := range e.grants() {
		for _, at := range g.Paths(e.place) {
			reaches := at == path || g.Propagate && strings.HasPrefix(path, strings.TrimSuffix(at, "/")+"/")
			if reaches && len(at) > deepest {
				found, deepest = g.Privileges(e.version), len(at)
			}
		}
	}
	return slices.Clone(found)
}
