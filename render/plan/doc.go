// Package plan answers: what does a cluster take, what does a change do to its machines, and does it fit? It is pure: what is free is given to it.
package plan
