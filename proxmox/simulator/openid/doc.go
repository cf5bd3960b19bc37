// Package openid signs users in by an OpenID Connect provider, as Proxmox VE's realms of that type do: it asks the
// provider where to send the browser, and later what the code says that the browser came back with.
//
// Source: pve-access-control src/PVE/API2/OpenId.pm, proxmox-rs proxmox-openid.
package openid
