// Package sample answers: what does a repository of so many clusters look like? It is for measurements and tests.
package sample

import "fmt"

// Fleet is a clusters/fleet.yaml with room for tens of thousands of clusters: 10.0.0.0/9, VMIDs up to 2999999, and
// the names of the simulated Proxmox VE.
const Fleet = `apiVersion: kubehenge.dev/v1alpha1
kind: Fleet
metadata:
  name: fleet
spec:
  proxmox:
    workloadPool: kubehenge
    templatePool: kubehenge-templates
    nodes: [pve1, pve2, pve3]
    storages: [shared]
    vmIDs: {start: 20000, end: 2999999}
  networks:
  - {name: lan, bridge: vmbr0, subnet: 10.0.0.0/9, gateway: 10.0.0.1, dns: [10.0.0.1], endpoints: [10.0.1.0-10.0.255.255], nodes: [10.1.0.0-10.100.255.255]}
  sizes:
  - {name: small, cpu: 2, memory: 4Gi, disk: 20Gi}
  - {name: medium, cpu: 4, memory: 8Gi, disk: 40Gi}
`

// perNamespace is how many clusters a namespace has.
const perNamespace = 100

// Workers is how many workers each of Overlays' clusters has.
const Workers = 2

// Overlays are n overlays of the common form, by path from the repository's root. They use the class kubeadm-1 and fit
// Fleet; neither is among them.
func Overlays(n int) map[string][]byte {
	files := make(map[string][]byte, 2*n)
	for i := range n {
		files[Folder(i)+"/kustomization.yaml"] = fmt.Appendf(nil, `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: team-%d
resources:
- claim.yaml
`, i/perNamespace)
		files[ClaimFile(i)] = Claim(i, Workers)
	}
	return files
}

// Folder is the i-th overlay's folder.
func Folder(i int) string { return fmt.Sprintf("clusters/team-%d/shop-%d", i/perNamespace, i) }

// ClaimFile is the path of the i-th overlay's claim.
func ClaimFile(i int) string { return Folder(i) + "/claim.yaml" }

// Claim is the i-th claim with so many workers.
func Claim(i, workers int) []byte {
	return fmt.Appendf(nil, `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: shop-%d
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: 10.0.%d.%d
  podCIDR: 10.244.0.0/16
  serviceCIDR: 172.20.0.0/16
  controlPlane: {replicas: 3, size: small}
  workers: {replicas: %d, size: medium}
`, i, 1+i/256, i%256, workers)
}
