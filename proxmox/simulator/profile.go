package simulator

import "kubehenge.dev/proxmox/simulator/core"

// Profile says how long things take, by the simulator's clock.
type Profile = core.Profile

// Instant lets every task end before its call is answered: for tests.
func Instant() Profile { return core.Instant() }

// Brisk lets tasks end before their call is answered, while the cluster's own clockwork goes at its usual pace: for
// replaying what was recorded.
func Brisk() Profile { return core.Brisk() }

// Lifelike takes about as long as a small cluster with local SSDs: for demonstrations.
func Lifelike() Profile { return core.Lifelike() }
