// Package crds holds the CustomResourceDefinitions of kubehenge.dev, generated from api/v1alpha1.
package crds

import "embed"

// Files are the generated manifests, one a kind.
//
//go:embed *.yaml
var Files embed.FS
