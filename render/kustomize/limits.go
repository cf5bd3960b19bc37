package kustomize

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// The limits of one overlay with everything it pulls in. A large real one has some dozens of files of some kilobytes.
const (
	maxFile    = 1 << 20 // bytes of one file
	maxTotal   = 8 << 20 // bytes of all files
	maxFiles   = 256     // also kustomizations, each as often as it is pulled in
	maxNodes   = 50_000  // YAML nodes of all files, aliases counted as what they stand for
	maxObjects = 500     // objects and patches
	maxDepth   = 16      // kustomizations within kustomizations
)

// expandedSize counts a document's nodes with every alias replaced by what it stands for, and stops beyond the limit.
// The kustomize library expands aliases without a limit of its own.
func expandedSize(node *yaml.Node) (int, error) {
	return (&counter{sizes: map[*yaml.Node]int{}}).size(node)
}

type counter struct{ sizes map[*yaml.Node]int } // of anchored nodes; 0 while being counted

func (c *counter) size(node *yaml.Node) (int, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Anchor != "" {
		if n, seen := c.sizes[node]; seen {
			if n == 0 {
				return 0, fmt.Errorf("the anchor %q contains itself", node.Anchor)
			}
			return n, nil
		}
		c.sizes[node] = 0
	}
	total := 1
	for _, child := range node.Content {
		n, err := c.size(child)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxNodes {
			return 0, fmt.Errorf("more than %d YAML nodes, with aliases counted as what they stand for", maxNodes)
		}
	}
	if node.Anchor != "" {
		c.sizes[node] = total
	}
	return total, nil
}
