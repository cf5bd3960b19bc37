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
// Here is what users of the simulator touch, and how a call is answered:
//
//	server, start, profile, guests   what a test or the lab begins with
//	inventory, inventory_   what there is at the beginning, how it is made, and how it is saved
//	snapshot, record        what is, and what was called, for tests to look at
//	control_                faults and effects, from Go and over HTTP; command.go from a command line
//	answer, signin, params, routes   a call on its way: sign-in, route, parameters, handler, answer
//	page                    a page to look at
//
// The handlers stand in packages below api, by area as Proxmox VE's API viewer has them; their routes are at the top of their
// files, each with who may call it, what it takes and what it does:
//
//	api/access, cluster, nodes, storage, pools, sdn, firewall, ha, backup, replication
//	api/guest               what machines and containers have alike: power, snapshots, migration, deletion
//	api/qemu, api/lxc       machines; containers
//
// They stand on package core: the state of the cluster ([core.State]), a call ([core.Call]), routes, guards, locks, tasks, errors.
// A handler is a function of a call. It runs with the lock of the state held, and so does a task except while it sleeps or asks a
// guest. Packages below api may use api/guest and api/storage; where the HA manager and the kinds of guests need each other, the
// state carries a function (State.Manager, State.Kinds).
//
// What decides without the API has packages of its own beside these: permission (rights), schema (parameters), ticket, tfa and
// openid (sign-in), guestconf and cloudinit (options of guests), ha (placement), firewall, network and sdn (networks), calendar and
// retention (backups), rrd, console, fault (what goes wrong), wire (HTTP). Package inside is what happens inside machines, package
// recordings replays what a real Proxmox VE was asked, and answered.
package simulator
