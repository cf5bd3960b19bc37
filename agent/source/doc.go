// Package source answers: which commit is in force? It fetches the branch by poll and by nudge, accepts a tip that descends from the commit in
// force and is signed as asked, and says in one sentence why a tip is not accepted or the repository cannot be read. Whatever happens to the
// repository, the last accepted commit stays in force.
package source
