//go:build race

package simulator

// slower is by how much the race detector slows code down.
const slower = 20
