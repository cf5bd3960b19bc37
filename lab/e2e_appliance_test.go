package lab_test

import (
	"testing"

	pve "github.com/luthermonson/go-proxmox"

	"kubehenge.dev/lab"
)

// applianceIndex is the lab of TestAppliance.
const applianceIndex = 27

// TestAppliance is the way of those who click: what they ask of the appliance becomes commits in their name, the agent
// takes them up, and they see what becomes of it. All scenarios share one cluster.
func TestAppliance(t *testing.T) {
	t.Parallel()
	l := startLab(t, lab.Options{Index: applianceIndex})
	w := &officeWorld{world: &world{lab: l, kube: kubeClient(t, l.Kubeconfig)}, root: rootOf(t, l)}
	w.admin = w.signIn(t, lab.Administrator)
	w.viewer = w.signIn(t, lab.Viewer)
	w.stranger = w.signIn(t, w.newUser(t, "stranger@pve"))
	play(t, w, []scenario[*officeWorld]{
		{"nobody gets in without a session, or with a wrong password", nobodyGetsIn},
		{"a cluster that is asked for comes up", askedForComesUp},
		{"who may only look is told what is missing, and who may not look finds nothing", rightsAreKept},
		{"one more worker, and back again", scaledAndUndone},
		{"a push is taken when it is right, and the pusher is told what is wrong", pushesAreJudged},
		{"the kubeconfig that is handed out works", handedOutKubeconfigWorks},
		{"without the management cluster the page says since when, and comes back", managementClusterStops},
		{"an appliance that was killed comes back with its repository", applianceKilled},
		{"a deleted cluster leaves nothing behind", deletedByClick},
	})
}

// officeWorld is a lab with three people at the page.
type officeWorld struct {
	*world
	// root is Proxmox VE as its administrator reaches it.
	root *pve.Client
	// admin may do everything, viewer sees everything, stranger sees nothing.
	admin, viewer, stranger *person
}
