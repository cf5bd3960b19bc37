// Package tfa keeps the second factors of Proxmox VE's users: one-time codes (TOTP), recovery keys and Yubico keys. It
// answers what a sign-in still lacks, whether an answer to that is right, and who is locked out after too many wrong ones.
//
// A Yubico key stands for the real one: whatever begins with the key's public part is right, no server is asked.
//
// Source of the rules and texts: proxmox-rs proxmox-tfa src/api/mod.rs, methods.rs, totp.rs.
package tfa
