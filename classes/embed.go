// Package classes holds what clusters are made of: one folder a distribution and revision.
package classes

import "embed"

// Files are the folders of all classes, such as kubeadm-1/class.yaml, and nothing else that lies beside them.
//
//go:embed kubeadm-*
var Files embed.FS
