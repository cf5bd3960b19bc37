package orphans

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Orphan is a VM that belongs to no machine, as the claim's annotation lists it.
type Orphan struct {
	// VMID, Name and Node say which VM, and where it was last; Name may be empty.
	VMID int    `json:"vmid"`
	Name string `json:"name,omitempty"`
	Node string `json:"node"`
	// Status is running, stopped and the like.
	Status string `json:"status"`
}

func newOrphan(g proxmox.Machine) Orphan {
	return Orphan{VMID: g.VMID, Name: g.Name, Node: g.Node, Status: g.Status}
}

// String is how people look for it, such as VM 20013 (shop-cp-x7k2).
func (o Orphan) String() string {
	if o.Name == "" {
		return fmt.Sprintf("VM %d", o.VMID)
	}
	return fmt.Sprintf("VM %d (%s)", o.VMID, o.Name)
}

// Of is what a live claim lists; none where it lists nothing that can be read.
func Of(c *v1alpha1.ClusterClaim) []Orphan {
	var list []Orphan
	if json.Unmarshal([]byte(c.Annotations[v1alpha1.OrphansAnnotation]), &list) != nil {
		return nil
	}
	return list
}

func encode(list []Orphan) (string, error) {
	data, err := json.Marshal(list)
	return string(data), err
}

// names is the list as part of a sentence.
func names(list []Orphan) string {
	parts := make([]string, len(list))
	for i, o := range list {
		parts[i] = o.String()
	}
	if len(parts) < 3 {
		return strings.Join(parts, " and ")
	}
	const most = 5
	if more := len(parts) - most; more > 0 {
		return strings.Join(parts[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// parseIDs reads VMIDs separated by commas.
func parseIDs(text string) ([]int, error) {
	var ids []int
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || id < 100 {
			return nil, fmt.Errorf("%q is no VMID", part)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func formatIDs(ids []int) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = strconv.Itoa(id)
	}
	return strings.Join(parts, ",")
}
