// Package kubeconfigs answers: where may the appliance read clusters' kubeconfigs, and nothing else that is secret? The leader copies the administrator's
// kubeconfig of each claim's cluster into a namespace of its own, follows its changes, and removes the copy with the cluster.
package kubeconfigs
