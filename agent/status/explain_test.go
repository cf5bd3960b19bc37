package status

import (
	"errors"
	"fmt"
	"net"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/proxmox"
)

var (
	clusterKind     = schema.GroupKind{Group: "cluster.x-k8s.io", Kind: "Cluster"}
	clusterResource = schema.GroupResource{Group: "cluster.x-k8s.io", Resource: "clusters"}
)

func TestEachErrorIsASentence(t *testing.T) {
	for want, tc := range map[string]struct {
		err  error
		kind Kind
	}{
		"Proxmox VE answers 595 for node pve2": {&proxmox.Error{Kind: proxmox.NodeOffline, Status: 595, Path: "/nodes/pve2/qemu", Reason: "No route to host"}, Transient},
		"Proxmox VE answers 500 (got no quorum)": {
			&proxmox.Error{Kind: proxmox.Transient, Status: 500, Path: "/pools", Reason: "got no quorum"}, Transient},
		"Proxmox VE does not answer":                 {&proxmox.Error{Kind: proxmox.Transient, Path: "/pools", Reason: "connection refused"}, Transient},
		"A task of Proxmox VE failed: disk full":     {&proxmox.Error{Kind: proxmox.TaskFailed, Reason: "disk full"}, Transient},
		"Proxmox VE does not know the agent's token": {&proxmox.Error{Kind: proxmox.Unauthorized, Status: 401}, Terminal},
		"Proxmox VE refuses the agent's token: Permission check failed (/pool/kubehenge, Pool.Allocate)": {&proxmox.Error{Kind: proxmox.Forbidden, Status: 403, Reason: "Permission check failed (/pool/kubehenge, Pool.Allocate)"}, Terminal},
		"Pool kubehenge/a.b still holds VM 20001":                                                        {&allocation.Error{Kind: allocation.Occupied, Message: "pool kubehenge/a.b still holds VM 20001"}, Waiting},
		"Waiting for addresses in Proxmox VE: lan is full":                                               {&allocation.Error{Kind: allocation.Full, Message: "lan is full"}, Waiting},
		"The management cluster refuses this: spec.topology.version: Invalid value: \"v1\": too old": {apierrors.NewInvalid(clusterKind, "shop",
			field.ErrorList{field.Invalid(field.NewPath("spec", "topology", "version"), "v1", "too old")}), Terminal},
		"The management cluster refuses this: no such class": {apierrors.NewForbidden(clusterResource, "shop",
			errors.New(`admission webhook "x" denied the request: no such class`)), Terminal},
		"The management cluster does not let the agent work: clusters.cluster.x-k8s.io \"shop\" is forbidden: User \"agent\" cannot patch": {apierrors.NewForbidden(clusterResource, "shop",
			errors.New(`User "agent" cannot patch`)), Terminal},
		"A webhook of Cluster API does not answer":            {apierrors.NewInternalError(errors.New(`failed calling webhook "default.cluster"`)), Transient},
		"The management cluster's API server does not answer": {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, Transient},
		"Another writer is at the same object":                {apierrors.NewConflict(clusterResource, "shop", errors.New("x")), Transient},
		"Waiting for the management cluster to have the kind HelmChartProxy.addons.cluster.x-k8s.io": {&meta.NoKindMatchError{
			GroupKind: schema.GroupKind{Group: "addons.cluster.x-k8s.io", Kind: "HelmChartProxy"}}, Waiting},
		"Something else": {errors.New("something else"), Transient},
	} {
		t.Run(want, func(t *testing.T) {
			got := Explain(StepApply, tc.err)
			if got.Message != want {
				t.Errorf("\n got %q\nwant %q", got.Message, want)
			}
			if got.Kind != tc.kind || got.Step != StepApply || got.Reason == "" {
				t.Errorf("got %+v, want kind %v", got, tc.kind)
			}
			wrapped := Explain(StepApply, fmt.Errorf("apply Cluster team-a/shop: %w", tc.err))
			if want != "Something else" && wrapped.Message != want {
				t.Errorf("wrapped: %q", wrapped.Message)
			}
		})
	}
}
