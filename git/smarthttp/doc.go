// Package smarthttp serves bare Git repositories below a folder over HTTP, with Git's own server program (git http-backend), so that pushes obey
// the same rules as everywhere. https://git-scm.com/docs/git-http-backend
package smarthttp
