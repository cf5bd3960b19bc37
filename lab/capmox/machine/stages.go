package machine

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// stage is one step. It acts in its own state only and moves the state on; again says that the machine is
// to be looked at later, and that no further stage runs now.
type stage struct {
	name string
	run  func(*scope, context.Context) (again bool, err error)
}

// stages are run from the top at each reconcile. The comment names the state a stage acts in.
var stages = []stage{
	{"task", (*scope).followTask},              // any
	{"virtual machine", (*scope).ensureVM},     // any
	{"address recovery", (*scope).recover},     // any
	{"configuration", (*scope).configure},      // Cloning
	{"boot volume", (*scope).resize},           // WaitingForDiskReconciliation
	{"addresses", (*scope).allocate},           // WaitingForStaticIPAllocation
	{"bootstrap data", (*scope).insertSeed},    // WaitingForBootstrapDataReconciliation
	{"power", (*scope).powerOn},                // WaitingForVMPowerUp
	{"machine addresses", (*scope).report},     // WaitingForClusterAPIMachineAddresses
	{"cloud-init", (*scope).awaitCloudInit},    // WaitingForCloudInit
	{"failed machines", (*scope).refuseFailed}, // VMProvisionFailed, TaskFailed
	{"boot ISO", (*scope).ejectSeed},           // any
}

// runStages says whether the machine is ready: all stages have been passed.
func (s *scope) runStages(ctx context.Context) (ready bool, err error) {
	for _, st := range stages {
		again, err := st.run(s, ctx)
		if err != nil || again {
			log.FromContext(ctx).V(4).Info("stage ends the reconcile", "stage", st.name, "state", s.reason(), "error", err)
			return false, err
		}
	}
	return true, nil
}
