package lab_test

import (
	"testing"

	"kubehenge.dev/lab"
)

// TestMainLoop is the product from end to end: what a person pushes becomes clusters on a simulated Proxmox VE,
// by the real Cluster API. The scenarios share one lab and go on from where the one before ended; after each of
// them an audit compares Proxmox VE and the management cluster with what Git asks for.
func TestMainLoop(t *testing.T) {
	t.Parallel()
	w := startWorld(t, lab.Options{Index: mainLoopIndex})
	play(t, w, []scenario[*world]{
		{"a pushed overlay becomes a running cluster", pushedOverlayRuns},
		{"the kubeconfig is fetched in one line and works", kubeconfigWorks},
		{"more workers by commit", workersScaleByCommit},
		{"an unknown field is told with file and line and stops nothing else", unknownFieldStopsOnlyItself},
		{"an agent killed during a creation converges without a doubled VM", agentKilledDuringCreation},
		{"two clusters on one network share no address, however they grow", clustersShareNoAddress},
		{"a moved folder changes no object", movedFolderChangesNothing},
		{"an owned field edited by hand is put back and told", editIsPutBack},
		{"a claim whose folder vanishes keeps running and is marked", vanishedClaimKeepsRunning},
		{"a commit that deletes all of clusters changes nothing", emptyTreeChangesNothing},
		{"history that does not descend is refused", rewrittenHistoryIsRefused},
		{"an unsigned commit is refused", unsignedCommitIsRefused},
		{"a disk can grow only with capmox's rule taken out", diskNeedsThePatchedRule},
		{"an upgrade needs capmox's webhook patched, and rolls one node at a time", upgradeRollsOneByOne},
		{"the API server restarted midway", apiServerRestarted},
		{"Proxmox VE answering 500 and 595 for a minute", proxmoxFails},
		{"state Deleted leaves nothing behind, the agent killed meanwhile", deletedLeavesNothing},
	}, (*world).audit)
	w.checkSentences(t)
}
