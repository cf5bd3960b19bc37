package lab

import "kubehenge.dev/proxmox/simulator"

// Account is somebody who may sign in to the lab's Proxmox VE, and so to the page.
type Account struct {
	// User is user@realm.
	User, Password string
}

// The accounts of the lab.
var (
	// Administrator may do everything.
	Administrator = Account{User: "root@pam", Password: "kubehenge"}
	// Viewer sees every cluster, and may change none.
	Viewer = Account{User: "viewer@pve", Password: "kubehenge"}
)

// inventory is the lab's Proxmox VE: the simulator's of this name, and the people besides.
func inventory() (*simulator.Inventory, error) {
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		return nil, err
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: Viewer.User, Password: Viewer.Password, Comment: "sees the clusters, and changes none"})
	inv.ACLs = append(inv.ACLs, simulator.ACLSpec{Path: "/pool/" + inv.Kubehenge.WorkloadPool, Roles: []string{"PVEAuditor"}, Users: []string{Viewer.User}})
	return inv, nil
}
