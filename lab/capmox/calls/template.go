package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// ErrTemplateNotFound says that no template, or more than one, has the tags.
var ErrTemplateNotFound = errors.New("VM template not found")

// FindTemplate finds the one template with these tags on all nodes.
func (c *Client) FindTemplate(ctx context.Context, tags []string, policy infrav1.TemplateMatchPolicy) (node string, id int64, err error) {
	rows, err := c.resources(ctx)
	if err != nil {
		return "", -1, err
	}
	want := make([]string, 0, len(tags))
	for _, t := range tags {
		want = append(want, strings.ToLower(t))
	}
	slices.Sort(want)
	want = slices.Compact(want)

	var found resource
	matches, best := 0, int(^uint(0)>>1)
	for _, r := range rows {
		surplus, ok := surplusTags(r, want)
		switch {
		case !ok, policy == infrav1.MatchExact && surplus != 0, policy == infrav1.MatchBestSubset && surplus > best:
			continue
		case policy == infrav1.MatchBestSubset:
			best = surplus
		}
		matches++ // as capmox: with bestSubset a worse match seen earlier still counts
		found = r
	}
	if matches != 1 {
		return "", -1, fmt.Errorf("%w: found %d VM templates with tags %q", ErrTemplateNotFound, matches, strings.Join(want, ";"))
	}
	return found.Node, found.VMID, nil
}

// surplusTags says whether a template has all wanted tags, and how many more.
func surplusTags(r resource, want []string) (int, bool) {
	if r.Template == 0 || r.Tags == "" {
		return 0, false
	}
	has := map[string]bool{}
	for t := range strings.SplitSeq(r.Tags, ";") {
		has[strings.ToLower(strings.TrimSpace(t))] = true
	}
	for _, t := range want {
		if !has[t] {
			return 0, false
		}
	}
	return len(has) - len(want), true
}

// Clone says what to clone a template into.
type Clone struct {
	Node        string // the template's node
	TemplateID  int64
	NewID       int64 // 0: the next free one
	Name        string
	Description string
	Format      string
	Full        bool
	Pool        string
	SnapName    string
	Storage     string
	Target      string // "": the template's node
}

// cloneBody is what travels; go-proxmox leaves full out when it is false.
type cloneBody struct {
	NewID       int64  `json:"newid"`
	Description string `json:"description,omitempty"`
	Format      string `json:"format,omitempty"`
	Full        int    `json:"full,omitempty"`
	Name        string `json:"name,omitempty"`
	Pool        string `json:"pool,omitempty"`
	SnapName    string `json:"snapname,omitempty"`
	Storage     string `json:"storage,omitempty"`
	Target      string `json:"target,omitempty"`
}

// Clone starts cloning and returns the new VMID and the task.
func (c *Client) Clone(ctx context.Context, r Clone) (int64, UPID, error) {
	if _, err := c.askNode(ctx, r.Node); err != nil {
		return 0, "", err
	}
	if _, err := c.readVM(ctx, r.Node, r.TemplateID); err != nil {
		return 0, "", fmt.Errorf("unable to find vm template: %w", err)
	}
	body := cloneBody{
		NewID: r.NewID, Description: r.Description, Format: r.Format, Name: r.Name, Pool: r.Pool,
		SnapName: r.SnapName, Storage: r.Storage, Target: r.Target,
	}
	if r.Full {
		body.Full = 1
	}
	if body.NewID == 0 {
		id, err := c.nextID(ctx)
		if err != nil {
			return 0, "", fmt.Errorf("unable to create new vm: %w", err)
		}
		body.NewID = id
	}
	var task UPID
	if err := c.post(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/clone", r.Node, r.TemplateID), body, &task); err != nil {
		return 0, "", fmt.Errorf("unable to create new vm: %w", err)
	}
	return body.NewID, task, nil
}
