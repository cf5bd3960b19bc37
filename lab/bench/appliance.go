package bench

import (
	"context"
	"fmt"
	"time"

	"kubehenge.dev/appliance/client"
	"kubehenge.dev/lab"
	"kubehenge.dev/lab/progress"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// applianceMemory is the target of the appliance's memory while nothing happens, in MB.
const applianceMemory = 60

// office is a lab with the appliance, and people in front of it.
type office struct {
	*session
	password string // everybody's
	people   []*client.Client
	clone    *clone
}

// onOffice are the figures of the appliance.
func (r *run) onOffice() []progress.Step {
	o := &office{session: &session{run: r}}
	return []progress.Step{
		{Name: "find the lab's programs", Do: o.build},
		{Name: "start a lab with the appliance, without Cluster API's managers", Do: o.open},
		{Name: "weigh the appliance without claims", Do: func(ctx context.Context) error { return o.rest(ctx, "without claims") }},
		{Name: fmt.Sprintf("bring in %s claims", thousands(r.Claims)), Do: o.fill},
		{Name: fmt.Sprintf("make %s machines, as if all clusters ran", thousands(r.Claims*machinesEach)), Do: o.makeMachines},
		{Name: fmt.Sprintf("give %d people accounts", atOnce+pushers), Do: o.hire},
		{Name: "clone the repository with git", Do: o.makeClone},
		{Name: "weigh the appliance", Do: o.restLoaded},
		{Name: fmt.Sprintf("push %d times, somebody else each time", pushers), Do: o.pushAll},
		{Name: fmt.Sprintf("sign %d people in", atOnce), Do: o.signIn},
		{Name: fmt.Sprintf("make %d changes on the page, one after another", r.Commits), Do: o.change},
		{Name: fmt.Sprintf("make %d changes on the page at once", atOnce), Do: o.changeAtOnce},
		{Name: fmt.Sprintf("list all clusters %d times", lists), Do: o.list},
		{Name: "weigh the appliance after the work", Do: o.restWorked},
	}
}

func (o *office) open(ctx context.Context) error { return o.startLab(ctx, lab.Options{}) }

// fill pushes all claims at once; the push is checked like any other. The Fleet with room for them comes first, since the
// checks let nobody take a network's addresses away once there are claims.
func (o *office) fill(ctx context.Context) error {
	sha, err := o.commit(ctx, "Make room", map[string][]byte{render.FleetFile: []byte(sample.Fleet)})
	if err != nil {
		return err
	}
	if err := o.repository.Push(ctx, sha); err != nil {
		return err
	}
	if _, err := o.bringIn(ctx); err != nil {
		return err
	}
	return o.settled(ctx)
}

func (o *office) restLoaded(ctx context.Context) error {
	return o.rest(ctx, thousands(o.Claims)+" claims")
}

func (o *office) restWorked(ctx context.Context) error {
	if err := o.settled(ctx); err != nil {
		return err
	}
	return o.rest(ctx, thousands(o.Claims)+" claims, after the work")
}

// rest leaves everything alone for a while, counts the calls to Proxmox VE meanwhile, and weighs the appliance.
func (o *office) rest(ctx context.Context, when string) error {
	o.lab.Proxmox.ForgetCalls()
	begun := time.Now()
	if err := pause(ctx, o.Idle); err != nil {
		return err
	}
	calls, minutes := o.lab.Proxmox.Calls(), time.Since(begun).Minutes()
	appliance, err := o.process(lab.Appliance)
	if err != nil {
		return err
	}
	p, err := pagesOf(appliance.PID)
	if err != nil {
		return err
	}
	m, err := memoryOf(appliance.PID)
	if err != nil {
		return err
	}
	o.add(
		Figure{
			Name: "appliance's memory idle, " + when, Value: p.resident, Unit: Megabytes, Target: applianceMemory,
			Note: fmt.Sprintf("resident after %s: %.0f anonymous, %.0f of files, which is the program; the most it held was %s",
				o.Idle, p.anonymous, p.files(), show(m.peak, Megabytes)),
		},
		Figure{
			Name: "Proxmox VE calls idle, agent and appliance, " + when, Value: float64(len(calls)) / minutes, Unit: PerMinute,
			Target: callsPerMinute, AtMost: true, Note: whichCalls(calls, o.Idle),
		},
	)
	return nil
}
