// Package capmox answers: what does capmox need when it is installed, is it there, and which changes wait for it?
//
// As released (seen at its commit 38e3ded), capmox refuses any change of a machine template that a ClusterClass
// asks for, and with it every upgrade of a cluster:
//
//   - its webhook forbids changing a ProxmoxMachineTemplate, and does not exempt the server-side-apply dry runs by which
//     Cluster API finds out whether a template would change
//     (https://github.com/ionos-cloud/cluster-api-provider-proxmox/issues/735);
//   - a rule in the CRD says the same of the boot volume, and CRD rules know no exemption.
//
// Both are put right without a fork (patches.go): the webhook is not called for such dry runs, and the CRD loses the
// rule. Templates stay immutable, since the webhook still sees every real change. Cluster API's own providers do the
// first in code (https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine, "InfraMachineTemplate:
// support for SSA").
//
// Whoever installs capmox anew may leave the patches out. So the leader looks every few seconds (watch.go), the hooks
// hold upgrades, and changes that capmox would refuse are not applied (need.go).
package capmox
