// Package history answers: who changed which cluster, when, in which commit? It follows the branch and keeps the short story of each commit, so that no
// question walks the history again. A cluster is known by the namespace and name that its folder renders to: moving the folder changes nothing.
package history
