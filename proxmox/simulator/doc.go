// Package simulator answers the Proxmox VE HTTP API without a Proxmox VE: the same routes, checks, texts and
// tasks, so that code written against it meets what it will meet on a real cluster.
//
// It speaks HTTP/1.1 over TLS itself, because Proxmox VE puts its error text in the reason phrase of the status
// line and clients (luthermonson/go-proxmox among them) read it there, which net/http's server cannot write.
//
// A test needs one line:
//
//	pve := simulator.Start(t)
//
// What happens inside a virtual machine is decided by a [Guests]; without one no guest agent ever answers.
package simulator
