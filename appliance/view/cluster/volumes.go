package cluster

import (
	"context"
	"errors"

	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

// Volumes are those of a cluster that Proxmox VE shows a person. They die with the cluster.
type Volumes struct {
	// Volumes are the disks of the VM that owns the cluster's volumes, in order.
	Volumes []Volume `json:"volumes"`
	// SizeBytes is how large they are together.
	SizeBytes int64 `json:"sizeBytes"`
	// Gaps are why there may be more, each a sentence; absent where there are no more.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Volume is one disk.
type Volume struct {
	// ID is its ID in Proxmox VE, storage:disk.
	ID string `json:"id"`
	// Node is the node that alone has it; empty on shared storage.
	Node      string `json:"node,omitempty"`
	SizeBytes int64  `json:"sizeBytes"`
}

// Gap is why a list may not be complete.
type Gap struct {
	Message string `json:"message"`
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

var (
	volumesUnowned  = told.Define("volumes-unowned", "which VM owns the cluster's volumes is not known here now")
	volumesOffline  = told.Define("volumes-offline", "what is on {nodes} cannot be seen now")
	volumesUnlisted = told.Define("volumes-unlisted", "not to be listed now: {places}")
	volumesDisabled = told.Define("volumes-disabled", "switched off, so that nothing is seen there: storage {storages}")
	volumesLate     = told.Define("volumes-late", "Proxmox VE takes too long to list them")
	volumesAway     = told.Define("volumes-away", "Proxmox VE cannot be asked for them now")
)

// UnknownVolumes are those of a cluster of which it is not known which VM owns them.
func UnknownVolumes() *Volumes {
	v := &Volumes{Volumes: []Volume{}}
	v.gap(volumesUnowned.With(nil))
	return v
}

// VolumesOf are what a survey found, or why there is none. Seeing says what the person lacks to see all.
func VolumesOf(survey volumes.Survey, failed error, seeing permission.Answer) *Volumes {
	v := &Volumes{Volumes: []Volume{}}
	for _, f := range survey.Volumes {
		v.Volumes = append(v.Volumes, Volume{f.ID, f.Node, f.SizeBytes})
		v.SizeBytes += f.SizeBytes
	}
	switch {
	case errors.Is(failed, context.DeadlineExceeded):
		v.gap(volumesLate.With(nil))
	case failed != nil:
		v.gap(volumesAway.With(nil))
	case !seeing.OK:
		v.Gaps = append(v.Gaps, Gap{seeing.Reason, told.Together(told.Fields{"message": seeing.Told["reason"]})})
	}
	v.unseen(survey)
	return v
}

func (v *Volumes) unseen(survey volumes.Survey) {
	if len(survey.Unseen) > 0 {
		v.gap(volumesOffline.With(told.Params{"nodes": survey.Unseen}))
	}
	if len(survey.Unlisted) > 0 {
		v.gap(volumesUnlisted.With(told.Params{"places": survey.Unlisted}))
	}
	if len(survey.Disabled) > 0 {
		v.gap(volumesDisabled.With(told.Params{"storages": survey.Disabled}))
	}
}

func (v *Volumes) gap(s told.Sentence) {
	v.Gaps = append(v.Gaps, Gap{s.String(), told.Together(s.In("message"))})
}
