// Package mirror answers: is the repository elsewhere in step with the one that is served here? It pushes what came here, takes what came there where that
// passes the checks that every push passes, and never overwrites anything on either side.
package mirror
