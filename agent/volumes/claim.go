package volumes

import (
	"fmt"
	"regexp"
)

// PersistentVolume is what is read of one in a workload cluster.
type PersistentVolume struct {
	// Name is its name.
	Name string
	// Driver and Handle are its CSI source's; empty where it has none.
	Driver, Handle string
	// Policy is its reclaim policy: Delete or Retain.
	Policy string
	// Phase is Bound, Released and the like.
	Phase string
	// Lifecycle is the plugin's annotation; "keep" has the plugin keep the volume whatever the policy.
	Lifecycle string
	// ClaimNamespace and ClaimName are the PersistentVolumeClaim's that it is, or was, bound to.
	ClaimNamespace, ClaimName string
}

// lifecycleAnnotation is the plugin's own mark on a PersistentVolume (proxmox-csi-plugin docs/options.md).
const lifecycleAnnotation = Driver + "/lifecycle"

// reason says why a PersistentVolume's volume is left alone; empty where it is to be deleted.
type reason string

// candidate is a PersistentVolume with what the checks ask about it.
type candidate struct {
	volume PersistentVolume
	handle Handle
	broken error // why the handle does not read
	owner  int   // VMID of the cluster's owner VM
}

// checks say whether a PersistentVolume's volume is to be deleted; the first that fails decides. Those before suspicious
// are the ordinary life of a volume; after it stand those that only a mistake or an attack fails.
var checks = []struct {
	name       string
	suspicious bool
	fails      func(candidate) reason
}{
	{"it is the Proxmox CSI plugin's", false, func(c candidate) reason { return unless(c.volume.Driver == Driver, "it is another driver's") }},
	{"its claim is gone", false, func(c candidate) reason { return unless(c.volume.Phase == "Released", "it is not released") }},
	{"it is to go with its claim", false, func(c candidate) reason { return unless(c.volume.Policy == "Delete", "its reclaim policy keeps it") }},
	{"the plugin would delete it", false, func(c candidate) reason {
		return unless(c.volume.Lifecycle != "keep", "the annotation "+lifecycleAnnotation+" keeps it")
	}},
	{"its name is a name", true, func(c candidate) reason { return unless(objectName.MatchString(c.volume.Name), "its name is none") }},
	{"its handle reads", true, func(c candidate) reason {
		if c.broken != nil {
			return reason(c.broken.Error())
		}
		return ""
	}},
	{"its volume is the cluster's", true, func(c candidate) reason {
		return unless(c.handle.VMID == c.owner, reason(fmt.Sprintf("its volume belongs to VM %d, the cluster's belong to VM %d", c.handle.VMID, c.owner)))
	}},
}

// objectName is what Kubernetes takes for the name of an object (a DNS subdomain).
var objectName = regexp.MustCompile(`\A[a-z0-9][a-z0-9.-]{0,251}[a-z0-9]\z|\A[a-z0-9]\z`)

func unless(good bool, why reason) reason {
	if good {
		return ""
	}
	return why
}

// judge says what is to be deleted for a PersistentVolume. A why that is suspicious is worth telling.
func judge(volume PersistentVolume, owner int) (h Handle, why reason, suspicious bool) {
	c := candidate{volume: volume, owner: owner}
	c.handle, c.broken = ParseHandle(volume.Handle)
	for _, check := range checks {
		if why := check.fails(c); why != "" {
			return Handle{}, why, check.suspicious
		}
	}
	return c.handle, "", false
}
