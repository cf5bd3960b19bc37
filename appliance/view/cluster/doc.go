// Package cluster answers: what is shown of a cluster? It puts together what Git wants and what live objects say. It is pure.
package cluster
