package lab_test

import (
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// cornerDifferences says what the corners of these clusters lack, and what is there of any other.
func (w *world) cornerDifferences(tags ...string) []string {
	inv, snapshot := w.lab.Proxmox.Save(), w.lab.Proxmox.Snapshot()
	var diff []string
	for _, tag := range tags {
		diff = append(diff, lackOfCorner(inv, snapshot, tag)...)
	}
	return diff
}

func lackOfCorner(inv *simulator.Inventory, s simulator.Snapshot, tag string) []string {
	var diff []string
	user := "kh-" + tag + "@pve"
	at := slices.IndexFunc(inv.Users, func(u simulator.UserSpec) bool { return u.ID == user })
	if at < 0 {
		return []string{"no user " + user}
	}
	if n := len(inv.Users[at].Tokens); n != 1 {
		diff = append(diff, fmt.Sprintf("user %s has %d tokens", user, n))
	}
	entries := 0
	for _, a := range inv.ACLs {
		if a.Path == "/pool/kubehenge/"+tag && slices.Contains(a.Roles, access.ClusterRole) {
			entries += len(a.Users) + len(a.Tokens)
		}
	}
	if entries != 2 {
		diff = append(diff, fmt.Sprintf("%d ACL entries on the pool of %s for its user and its token, not 2", entries, tag))
	}
	owners := 0
	for _, vm := range s.VMs {
		if vm.Pool == "kubehenge/"+tag && slices.Contains(vm.Tags, v1alpha1.VolumesTag) {
			owners++
			if vm.Status != "stopped" {
				diff = append(diff, fmt.Sprintf("the owner of the volumes of %s is %s", tag, vm.Status))
			}
		}
	}
	if owners != 1 {
		diff = append(diff, fmt.Sprintf("%s has %d VMs that own volumes", tag, owners))
	}
	return diff
}

// strayCorners are users and ACL entries of clusters that are not wanted.
func (w *world) strayCorners(wanted map[string]*v1alpha1.ClusterClaim) []string {
	inv := w.lab.Proxmox.Save()
	var diff []string
	for _, u := range inv.Users {
		tag, ours := strings.CutPrefix(strings.TrimSuffix(u.ID, "@pve"), "kh-")
		if ours && wanted[tag] == nil {
			diff = append(diff, "user "+u.ID+" belongs to no cluster")
		}
	}
	for _, a := range inv.ACLs {
		if tag, nested := strings.CutPrefix(a.Path, "/pool/kubehenge/"); nested && wanted[tag] == nil {
			diff = append(diff, "an ACL entry on "+a.Path+" belongs to no cluster")
		}
	}
	return diff
}
