// Package console is what answers behind the ports of consoles: a terminal that repeats what is typed, and a screen that
// stays dark. Both speak what the browser's side of Proxmox VE speaks: the terminal the protocol of termproxy (pve-xtermjs),
// the screen RFB 3.8 with a password (RFC 6143).
package console
