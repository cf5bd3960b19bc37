// Package build answers: where are the binaries of a lab's children and the manifests of its providers, and how are
// they made from their Go modules when they are not there yet?
//
// Results are kept in a cache folder under a stamp of all that went into them, so that a second start builds nothing.
package build
