// Package git answers: what is in the repository's branch, who signed it, and how does a change get onto it. It fetches one branch into a bare
// clone, gives the tree at a commit, verifies SSH signatures, and commits and pushes without a working tree. It knows nothing of clusters.
//
// It stands on go-git (https://github.com/go-git/go-git), called directly instead of through its Remote type: a fetch of an unchanged branch is
// one request, a push sends exactly the new objects, and no global protocol registry is changed.
package git
