package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kubehenge.dev/lab"
	"kubehenge.dev/proxmox/simulator"
)

const (
	// scrapeInterval is how often a working agent is asked for its metrics.
	scrapeInterval = 500 * time.Millisecond
	// quietScrapes is how many answers in a row must say that there is no work.
	quietScrapes = 4
	// takeoverInterval is how often an agent that starts is asked, and so the error of the figure.
	takeoverInterval = 10 * time.Millisecond
)

// settled waits until the agent has nothing to do, and weighs it.
func (s *session) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the agent did not come to rest"))
	defer cancel()
	quiet := 0
	err := poll(ctx, scrapeInterval, func(ctx context.Context) (bool, error) {
		metrics, err := scrape(ctx, s.lab.MetricsURL())
		if err != nil {
			return false, err
		}
		if quiet++; metrics.working() > 0 {
			quiet = 0
		}
		return quiet >= quietScrapes, nil
	})
	if err != nil {
		return err
	}
	return s.weighLoaded()
}

func (s *session) weighAgent() (memory, error) {
	agent, err := s.agent()
	if err != nil {
		return memory{}, err
	}
	return memoryOf(agent.PID)
}

func (s *session) weighLoaded() error {
	m, err := s.weighAgent()
	s.loaded = append(s.loaded, m)
	return err
}

func (s *session) weighEmpty(ctx context.Context) error {
	if err := s.settled(ctx); err != nil {
		return err
	}
	m := s.loaded[0]
	s.loaded = nil
	s.add(Figure{
		Name: "agent's memory without claims", Value: m.resident, Unit: Megabytes, Target: idleMemory,
		Note: fmt.Sprintf("resident; the most it held was %s", show(m.peak, Megabytes)),
	})
	return nil
}

// idle counts calls to Proxmox VE while nothing happens.
func (s *session) idle(ctx context.Context) error {
	s.lab.Proxmox.ForgetCalls()
	begun := time.Now()
	if err := pause(ctx, s.Idle); err != nil {
		return err
	}
	calls, minutes := s.lab.Proxmox.Calls(), time.Since(begun).Minutes()
	s.add(Figure{
		Name: fmt.Sprintf("Proxmox VE calls idle, %s claims", thousands(s.Claims)), Value: float64(len(calls)) / minutes, Unit: PerMinute,
		Target: callsPerMinute, AtMost: true, Note: whichCalls(calls, s.Idle),
	})
	return s.weighLoaded()
}

// whichCalls says what was called, most of it first seen first.
func whichCalls(calls []simulator.Call, over time.Duration) string {
	counts := map[string]int{}
	var kinds []string
	for _, c := range calls {
		kind := c.Method + " " + c.Path
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	const most = 3
	for i, kind := range kinds[:min(most, len(kinds))] {
		kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	words := fmt.Sprintf("%d in %s", len(calls), over)
	if len(kinds) > 0 {
		words += ": " + strings.Join(kinds[:min(most, len(kinds))], ", ")
	}
	return words
}

// restart kills the agent and measures the next one's way to the repository.
func (s *session) restart(ctx context.Context) error {
	before, err := s.agent()
	if err != nil {
		return err
	}
	if err := s.lab.Processes.Kill(lab.Agent); err != nil {
		return err
	}
	taken, since, err := s.takenOver(ctx, before.PID)
	if err != nil {
		return err
	}
	if err := s.settled(ctx); err != nil {
		return err
	}
	looked := time.Since(since) - quietScrapes*scrapeInterval
	s.add(Figure{
		Name: fmt.Sprintf("restart of the agent, %s claims", thousands(s.Claims)), Value: taken.Seconds(), Unit: Seconds,
		Note: fmt.Sprintf("from its process to the repository taken over; about %s until every claim was looked at", showDuration(max(taken, looked))),
	})
	return nil
}

// takenOver waits for another process than the former and says how long it took to take the repository over.
func (s *session) takenOver(ctx context.Context, former int) (took time.Duration, since time.Time, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the agent did not take the repository over again"))
	defer cancel()
	err = poll(ctx, takeoverInterval, func(ctx context.Context) (bool, error) {
		agent, err := s.agent()
		if err != nil || agent.PID == 0 || agent.PID == former {
			return false, err
		}
		since = agent.Since
		metrics, err := scrape(ctx, s.lab.MetricsURL())
		return metrics[commitAge] > 0, err
	})
	return time.Since(since), since, err
}

// weigh adds the figure of the memory with all claims and no machines, the largest that was seen.
func (s *session) weigh(context.Context) error {
	var most, peak float64
	var seen []string
	for i, when := range []string{"after the first commit", "after the changes", "after idling", "after a restart"} {
		m := s.loaded[i]
		most, peak = max(most, m.resident), max(peak, m.peak)
		seen = append(seen, fmt.Sprintf("%.0f %s", m.resident, when))
	}
	s.add(Figure{
		Name: fmt.Sprintf("agent's memory, %s claims", thousands(s.Claims)), Value: most, Unit: Megabytes, Target: loadedMemory,
		Note: fmt.Sprintf("resident: %s; the most it held was %s", strings.Join(seen, ", "), show(peak, Megabytes)),
	})
	return nil
}
