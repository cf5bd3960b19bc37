// Package signin answers: who is this? People sign in with the account that they have in Proxmox VE; there is no other directory. The ticket stays in
// the server's memory, and the browser holds a random identifier that means nothing anywhere else.
package signin
