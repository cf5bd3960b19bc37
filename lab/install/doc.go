// Package install answers: how do providers' manifests get into the lab's API server?
//
// The providers run as processes beside the API server, not in Pods, and there is no cert-manager: what only makes
// sense in Pods is left out, and webhooks are called on loopback with the lab's CA.
package install
