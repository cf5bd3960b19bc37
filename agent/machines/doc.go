// Package machines answers: which machines does each cluster have, which VM is each, and what does the provider say of
// it? It reads Cluster API's Machines and capmox's ProxmoxMachines from the agent's cache, which keeps of them what is
// read here (agent/sync/trim.go).
package machines
