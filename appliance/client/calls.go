package client

import (
	"context"
	"net/http"
	"net/url"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/view/change"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/appliance/wire"
)

// SignIn opens a session. Where a second factor is wanted, the Error has Factors, and the call is made again with one.
func (c *Client) SignIn(ctx context.Context, who wire.SignIn) error {
	s, err := call[wire.Session](ctx, c, http.MethodPost, "/api/session", who)
	if err != nil {
		return err
	}
	c.session.User, c.session.CSRF, c.session.Ends = s.User, s.CSRF, s.Ends
	return nil
}

// SignOut ends the session.
func (c *Client) SignOut(ctx context.Context) error {
	_, err := c.send(ctx, http.MethodDelete, "/api/session", nil)
	return err
}

// Realms are those that people may sign in to.
func (c *Client) Realms(ctx context.Context) (*wire.Realms, error) {
	return call[wire.Realms](ctx, c, http.MethodGet, "/api/realms", nil)
}

// Fleet is what there is to choose from.
func (c *Client) Fleet(ctx context.Context) (*fleet.Fleet, error) {
	return call[fleet.Fleet](ctx, c, http.MethodGet, "/api/fleet", nil)
}

// Clusters are those that the person may see.
func (c *Client) Clusters(ctx context.Context) (*wire.Clusters, error) {
	return call[wire.Clusters](ctx, c, http.MethodGet, "/api/clusters", nil)
}

// Cluster is one of them.
func (c *Client) Cluster(ctx context.Context, cluster commit.Cluster) (*wire.Cluster, error) {
	return call[wire.Cluster](ctx, c, http.MethodGet, path(cluster, ""), nil)
}

// Volumes are those of a cluster, as far as Proxmox VE shows them to the person.
func (c *Client) Volumes(ctx context.Context, of commit.Cluster) (*cluster.Volumes, error) {
	return call[cluster.Volumes](ctx, c, http.MethodGet, path(of, "/volumes"), nil)
}

// Preview is what Create would commit.
func (c *Client) Preview(ctx context.Context, n wire.NewCluster) (*wire.Preview, error) {
	return call[wire.Preview](ctx, c, http.MethodPost, "/api/clusters/preview", n)
}

// Create makes a cluster.
func (c *Client) Create(ctx context.Context, n wire.NewCluster) (*commit.Result, error) {
	return call[commit.Result](ctx, c, http.MethodPost, "/api/clusters", n)
}

// Scale sets a number of nodes.
func (c *Client) Scale(ctx context.Context, cluster commit.Cluster, s wire.Scale) (*commit.Result, error) {
	return call[commit.Result](ctx, c, http.MethodPost, path(cluster, "/scale"), s)
}

// Upgrade sets the Kubernetes version.
func (c *Client) Upgrade(ctx context.Context, cluster commit.Cluster, u wire.Upgrade) (*commit.Result, error) {
	return call[commit.Result](ctx, c, http.MethodPost, path(cluster, "/upgrade"), u)
}

// Delete deletes a cluster.
func (c *Client) Delete(ctx context.Context, cluster commit.Cluster) (*commit.Result, error) {
	return call[commit.Result](ctx, c, http.MethodPost, path(cluster, "/delete"), wire.Delete{Confirm: cluster.Name})
}

// Kubeconfig is the administrator's kubeconfig of a cluster.
func (c *Client) Kubeconfig(ctx context.Context, cluster commit.Cluster) ([]byte, error) {
	return c.send(ctx, http.MethodPost, path(cluster, "/kubeconfig"), struct{}{})
}

// Changes are the commits that touched a cluster, the newest first.
func (c *Client) Changes(ctx context.Context, cluster commit.Cluster) (*change.List, error) {
	return call[change.List](ctx, c, http.MethodGet, path(cluster, "/changes"), nil)
}

func path(cluster commit.Cluster, action string) string {
	return "/api/clusters/" + url.PathEscape(cluster.Namespace) + "/" + url.PathEscape(cluster.Name) + action
}
