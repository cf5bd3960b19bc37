package volumes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/api/v1alpha1"
)

// List is the volumes that a cluster has in Proxmox VE.
type List struct {
	// Cluster is namespace/name.
	Cluster string `json:"cluster"`
	// OwnerVMID is the VM that owns them.
	OwnerVMID int `json:"ownerVMID"`
	// Volumes are the volumes, in order.
	Volumes []Item `json:"volumes"`
	// OfflineNodes are nodes that may have more.
	OfflineNodes []string `json:"offlineNodes,omitempty"`
	// Unlisted are storages that may have more, each with why they could not be listed.
	Unlisted []string `json:"unlisted,omitempty"`
	// ClusterAnswers is false where the cluster did not say which PersistentVolumes they are.
	ClusterAnswers bool `json:"clusterAnswers"`
}

// Item is one volume.
type Item struct {
	// ID is its ID in Proxmox VE.
	ID string `json:"id"`
	// Storage is where it is, and Node the node that alone has it; empty on shared storage.
	Storage string `json:"storage"`
	Node    string `json:"node,omitempty"`
	// SizeBytes is its size.
	SizeBytes int64 `json:"sizeBytes"`
	// PersistentVolume is its name in the cluster, Claim namespace/name of what it is bound to, and Phase its phase.
	PersistentVolume string `json:"persistentVolume,omitempty"`
	Claim            string `json:"claim,omitempty"`
	Phase            string `json:"phase,omitempty"`
}

// workloadVolumes is what is asked of a workload cluster.
type workloadVolumes interface {
	PersistentVolumes(ctx context.Context, cluster types.NamespacedName) ([]PersistentVolume, error)
}

// ListOf lists the volumes of a cluster as px sees them.
func ListOf(ctx context.Context, claims client.Reader, workloads workloadVolumes, px Proxmox, cluster types.NamespacedName) (List, error) {
	claim := &v1alpha1.ClusterClaim{}
	if err := claims.Get(ctx, cluster, claim); err != nil {
		return List{}, fmt.Errorf("read claim %s: %w", cluster, err)
	}
	list := List{Cluster: cluster.String(), Volumes: []Item{}}
	if claim.Status.Allocation == nil {
		return list, nil
	}
	list.OwnerVMID = int(claim.Status.Allocation.VMIDs.End)
	survey, err := Look(ctx, px, list.OwnerVMID)
	if err != nil {
		return List{}, fmt.Errorf("list the volumes of cluster %s: %w", cluster, err)
	}
	list.OfflineNodes, list.Unlisted = survey.Unseen, survey.Unlisted
	for _, name := range survey.Disabled {
		list.Unlisted = append(list.Unlisted, "storage "+name+" (switched off)")
	}
	known, err := workloads.PersistentVolumes(ctx, cluster)
	list.ClusterAnswers = err == nil
	for _, v := range survey.Volumes {
		item := Item{ID: v.ID, Storage: v.Storage, Node: v.Node, SizeBytes: v.SizeBytes}
		item.describe(known)
		list.Volumes = append(list.Volumes, item)
	}
	return list, nil
}

// describe adds what the cluster says of a volume. What it says may be anything; names that are none are left out.
func (i *Item) describe(known []PersistentVolume) {
	for _, pv := range known {
		h, err := ParseHandle(pv.Handle)
		if err != nil || pv.Driver != Driver || h.ID() != i.ID || i.Node != "" && h.Zone != i.Node || !objectName.MatchString(pv.Name) {
			continue
		}
		i.PersistentVolume, i.Phase = pv.Name, ""
		if phases[pv.Phase] {
			i.Phase = pv.Phase
		}
		if objectName.MatchString(pv.ClaimNamespace) && objectName.MatchString(pv.ClaimName) {
			i.Claim = pv.ClaimNamespace + "/" + pv.ClaimName
		}
		return
	}
}

// phases are those of PersistentVolumes.
var phases = map[string]bool{"Pending": true, "Available": true, "Bound": true, "Released": true, "Failed": true}

var formats = map[string]func(io.Writer, List) error{"table": writeTable, "json": writeJSON, "yaml": writeYAML}

func writeJSON(out io.Writer, list List) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

func writeYAML(out io.Writer, list List) error {
	data, err := yaml.Marshal(list)
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

func writeTable(out io.Writer, list List) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(list.Volumes) > 0 {
		fmt.Fprintln(t, "VOLUME\tNODE\tSIZE\tPERSISTENTVOLUME\tCLAIM\tSTATUS")
	}
	for _, v := range list.Volumes {
		size := resource.NewQuantity(v.SizeBytes, resource.BinarySI).String()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, dash(v.Node), size, dash(v.PersistentVolume), dash(v.Claim), dash(v.Phase))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range list.notes() {
		if _, err := fmt.Fprintln(out, note); err != nil {
			return err
		}
	}
	return nil
}

// notes are what a person should know beside the table.
func (l List) notes() []string {
	var notes []string
	if len(l.Volumes) == 0 {
		notes = append(notes, "No volumes.")
	}
	if len(l.OfflineNodes) > 0 {
		notes = append(notes, strings.Join(l.OfflineNodes, ", ")+" (offline) may have more.")
	}
	if len(l.Unlisted) > 0 {
		notes = append(notes, "Not listed, and may have more: "+strings.Join(l.Unlisted, ", ")+".")
	}
	if len(l.Volumes) > 0 && !l.ClusterAnswers {
		notes = append(notes, "The cluster does not answer, so its names for them are not known.")
	}
	return notes
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
