// Package bench answers: does Kubehenge reach what it must reach? It measures a fleet of generated claims, renders in
// this process and the rest on a lab, and prints each figure beside its target.
package bench
