//go:build !race

package simulator

// slower is 1 without the race detector.
const slower = 1
