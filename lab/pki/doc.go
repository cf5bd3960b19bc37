// Package pki answers: which certificates, keys and kubeconfigs does a lab need, and where are they?
//
// One CA signs all of them. A lab makes them anew at each start.
package pki
