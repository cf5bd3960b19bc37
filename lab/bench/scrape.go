package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// samples are an endpoint's metrics: labels as Prometheus writes them, and values.
type samples map[string]float64

// scrape reads the metrics at a URL.
func scrape(ctx context.Context, url string) (samples, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read metrics: %s", response.Status)
	}
	return parseSamples(response.Body)
}

// parseSamples reads Prometheus' text format, without timestamps, which none of ours has:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
func parseSamples(in io.Reader) (samples, error) {
	out := samples{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("read metrics: %q is no sample", line)
		}
		out[line[:at]] = value
	}
	return out, lines.Err()
}

// sum adds up the samples of one metric that carry a label.
func (s samples) sum(metric, label string) float64 {
	total := 0.0
	for name, value := range s {
		if strings.HasPrefix(name, metric+"{") && strings.Contains(name, label) {
			total += value
		}
	}
	return total
}

// The agent's metrics that say what it does.
const (
	commitAge     = "kubehenge_commit_age_seconds"
	claimQueue    = `name="claim"`
	claimWorkers  = `controller="claim"`
	queueDepth    = "workqueue_depth"
	activeWorkers = "controller_runtime_active_workers"
)

// working is how many claims the agent works on or is about to.
func (s samples) working() float64 {
	return s.sum(queueDepth, claimQueue) + s.sum(activeWorkers, claimWorkers)
}

// final is an answer after which asking again is of no use.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// poll asks until the answer is yes; errors mean not yet, but for a final one.
func poll(ctx context.Context, interval time.Duration, ask func(context.Context) (bool, error)) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		yes, err := ask(ctx)
		if err == nil && yes {
			return nil
		}
		if errors.As(err, new(final)) {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("%w; the last answer: %w", context.Cause(ctx), err)
			}
			return context.Cause(ctx)
		}
	}
}
