package build

// Binary is a child's program.
type Binary struct {
	// Name is the file's.
	Name string
	// Module is the folder of the module it is built from, relative to the checkout.
	Module string
	// Package is the main package.
	Package string
	// Flags and Env are go build's. They are the same for all that is built from the same packages, so that the compiler's
	// cache is shared.
	Flags, Env []string
	// LDFlags are the linker's.
	LDFlags string
	// Hint says what a person waits for while it is built.
	Hint string
}

// The names of the binaries.
const (
	ControlPlane     = "controlplane"
	CAPICore         = "capi-core"
	CAPIBootstrap    = "capi-bootstrap-kubeadm"
	CAPIControlPlane = "capi-control-plane-kubeadm"
	HelmAddon        = "capi-addon-helm"
	IPAM             = "capi-ipam-in-cluster"
	Guests           = "guests"
	Kubehenge        = "kubehenge"
)

// The versions the modules below are pinned to; their tests compare them with go.mod.
const (
	KubernetesVersion = "v1.36.3"
	CAPIVersion       = "v1.14.2"
)

const (
	controlPlaneModule = "lab/controlplane"
	capiModule         = "lab/providers/capi"
	ipamModule         = "lab/providers/ipam"
	rootModule         = "."
)

// These are how programs are built: children's without debugging information, since they are large; kubehenge
// itself as the Makefile and its tests do, so that what those compiled is used again.
var (
	childFlags = []string{"-trimpath"}
	withoutCgo = []string{"CGO_ENABLED=0"}
)

const childLDFlags = "-s -w"

// binaries are all children's programs, in the order in which they are built: those that share most of what they
// are compiled from follow each other.
var binaries = []Binary{
	{
		Name: ControlPlane, Module: controlPlaneModule, Package: ".",
		Flags: childFlags, Env: withoutCgo,
		LDFlags: childLDFlags + versionFlags("k8s.io/component-base/version", KubernetesVersion, "1", "36"),
		Hint:    "etcd, kube-apiserver, kube-controller-manager and kube-scheduler; about 6 minutes on two cores the first time",
	},
	{
		Name: CAPICore, Module: capiModule, Package: "sigs.k8s.io/cluster-api/core",
		Flags: childFlags, Env: withoutCgo, LDFlags: capiFlags, Hint: "Cluster API; about 2 minutes the first time",
	},
	{
		Name: CAPIBootstrap, Module: capiModule, Package: "sigs.k8s.io/cluster-api/bootstrap/kubeadm",
		Flags: childFlags, Env: withoutCgo, LDFlags: capiFlags, Hint: "its kubeadm bootstrap provider",
	},
	{
		Name: CAPIControlPlane, Module: capiModule, Package: "sigs.k8s.io/cluster-api/controlplane/kubeadm",
		Flags: childFlags, Env: withoutCgo, LDFlags: capiFlags, Hint: "its kubeadm control plane provider",
	},
	{
		Name: HelmAddon, Module: capiModule, Package: "sigs.k8s.io/cluster-api-addon-provider-helm",
		Flags: childFlags, Env: withoutCgo, LDFlags: childLDFlags, Hint: "its Helm add-on provider",
	},
	{
		Name: IPAM, Module: ipamModule, Package: "sigs.k8s.io/cluster-api-ipam-provider-in-cluster",
		Flags: childFlags, Env: withoutCgo, LDFlags: childLDFlags, Hint: "its in-cluster IPAM provider; about 2 minutes the first time",
	},
	{
		Name: Guests, Module: "lab/guests", Package: ".",
		Flags: childFlags, Env: withoutCgo, LDFlags: childLDFlags, Hint: "what runs inside the simulated VMs",
	},
	{Name: Kubehenge, Module: rootModule, Package: ".", Env: withoutCgo, Hint: "kubehenge itself"},
}

var capiFlags = childLDFlags + versionFlags("sigs.k8s.io/cluster-api/version", CAPIVersion, "1", "14")

// versionFlags make a binary report its version. The date is fixed so that the same source gives the same bytes.
func versionFlags(pkg, version, major, minor string) string {
	set := func(key, value string) string { return " -X " + pkg + "." + key + "=" + value }
	return set("gitVersion", version) + set("gitMajor", major) + set("gitMinor", minor) +
		set("gitTreeState", "clean") + set("gitCommit", "unknown") + set("buildDate", "1970-01-01T00:00:00Z")
}

// Provider is a Cluster API provider's set of manifests.
type Provider struct {
	// Name is the file's, without extension: the binary that goes with it.
	Name string
	// Module is the folder of the module that pins it, relative to the checkout.
	Module string
	// Path is the Go module the manifests are in, Config the kustomization's folder in it.
	Path, Config string
}

var providers = []Provider{
	{CAPICore, capiModule, "sigs.k8s.io/cluster-api", "core/config/default"},
	{CAPIBootstrap, capiModule, "sigs.k8s.io/cluster-api", "bootstrap/kubeadm/config/default"},
	{CAPIControlPlane, capiModule, "sigs.k8s.io/cluster-api", "controlplane/kubeadm/config/default"},
	{HelmAddon, capiModule, "sigs.k8s.io/cluster-api-addon-provider-helm", "config/default"},
	{IPAM, ipamModule, "sigs.k8s.io/cluster-api-ipam-provider-in-cluster", "config/default"},
}
