// Package access answers which privileges exist in Proxmox VE, which its built-in roles hold, and which roles
// Kubehenge's own users need on which path and why.
package access
