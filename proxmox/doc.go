// Package proxmox asks Proxmox VE, and says in typed errors what it answered.
//
// It sits over github.com/luthermonson/go-proxmox, whose transport it guards: an answer counts as success only when
// it has a 2xx status and carries Proxmox VE's JSON envelope. A 595 (the node behind the API is not reachable) comes
// without a body, and a reverse proxy may answer with a page of HTML; neither is ever taken for success.
//
// Callers take the smallest interface that serves them (Pools, Machines, Nodes, Tasks), and Cache where many ask
// the same lists.
package proxmox
