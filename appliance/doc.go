// Package appliance answers: how do people change what Git wants without writing it by hand? It signs them in with their Proxmox VE account, turns what
// they ask for into commits in their name, and is the Git server where there is no other. It never talks to the agent, but for a nudge that a commit came.
package appliance
