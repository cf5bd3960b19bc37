// Package render answers: what does a repository's tree at one commit ask for? It is a pure function of the tree: no network, no client,
// no clock. Each overlay below clusters/ becomes a claim and the objects for it, or problems with file and line; the same tree always gives
// the same bytes, and a broken overlay stops itself and no other.
//
// The way of an overlay, a file each: find.go, overlay.go (kustomize build, strict decode, defaults), claim_checks.go, objects.go,
// shared.go (what two overlays may not share). renderer.go keeps what has not changed. change.go judges a change between two trees.
package render
