// Package fault describes what goes wrong in a simulated Proxmox VE, and when: rules that match calls, and effects on the
// cluster that a call sets off. The same from Go, from a command line and from a YAML file.
package fault
