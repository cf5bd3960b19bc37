package render

import (
	"path"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/kustomize"
)

// Peeked is what an overlay's own files say, before the Fleet and the class have a part in it.
type Peeked struct {
	// Namespace and Name are the cluster's identity; empty when not known.
	Namespace, Name string
	// Claim is the claim as written; nil when it cannot be decoded.
	Claim *v1alpha1.ClusterClaim
}

// Peek reads one overlay's folder. The error is only for a tree that cannot be read.
func Peek(tree Tree, folder string) (Peeked, error) {
	b, err := buildOverlay(tree, folder)
	if err != nil {
		return Peeked{}, err
	}
	return Peeked{Namespace: b.namespace, Name: b.name, Claim: b.claim}, nil
}

// HolderOf is the overlay whose folder, the nearest upwards, holds a file; empty where there is none.
func HolderOf(tree Tree, file string) (folder string, err error) {
	for at := path.Dir(file); at != "." && at != ClustersFolder; at = path.Dir(at) {
		is, err := isOverlay(tree, at)
		if err != nil || is {
			return at, err
		}
	}
	return "", nil
}

// isOverlay tells whether a folder below clusters/ is an overlay, as the finder sees it.
func isOverlay(tree Tree, folder string) (bool, error) {
	if !belowClusters(folder) {
		return false, nil
	}
	for _, name := range kustomize.FileNames {
		digest, err := digestOf(tree, path.Join(folder, name))
		if err != nil || digest != "" {
			return digest != "", err
		}
	}
	return false, nil
}

// belowClusters tells whether the finder goes into a folder.
func belowClusters(folder string) bool {
	for at := folder; at != ClustersFolder; at = path.Dir(at) {
		if at == "." || at == "/" || path.Base(at)[0] == '_' || path.Base(at)[0] == '.' {
			return false
		}
	}
	return true
}
