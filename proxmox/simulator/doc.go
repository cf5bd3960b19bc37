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
//
// # Where is what
//
// The routes of a part of the API stand at the top of its file, each with who may call it, what it takes and what it does.
//
//	api_      how a call is answered: sign-in, routes, parameters, privileges, locks, errors
//	access_   users, tokens, groups, roles, ACLs, realms and their directories, second factors, OpenID
//	cluster_  what concerns the whole cluster: state, options, replication, SDN, and what is only kept for others to act on
//	nodes, nodes_   nodes with their networks, systems and figures of the past
//	pools, console, firewall_
//	backup, backup_ jobs, backups and restoring them
//	ha_       resources, rules and groups, and the manager's cycle
//	lxc_      containers
//	snapshots of machines and containers
//	storage_  storages, volumes, uploads, downloads, templates
//	task_     what goes on after a call was answered
//	vm_       virtual machines
//	inventory what there is at the beginning, and how it is saved
//	control_  faults and effects, from Go and over HTTP; command.go from a command line
//
// What decides without the API has packages of its own below this one: permission (rights), schema (parameters), ticket, tfa and
// openid (sign-in), guestconf and cloudinit (options of guests), ha (placement), firewall, network and sdn (networks), calendar and
// retention (backups), rrd, console, fault (what goes wrong), wire (HTTP). Package recordings replays what a real Proxmox VE was
// asked, and answered.
package simulator
