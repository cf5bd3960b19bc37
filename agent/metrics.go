package agent

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kubehenge.dev/api/v1alpha1"
)

// metrics are what Prometheus is told, beside controller-runtime's own figures.
type metrics struct {
	applySeconds *prometheus.HistogramVec
	syncSeconds  prometheus.Histogram
	calls        *prometheus.CounterVec

	clock clock.PassiveClock
	mu    sync.Mutex
	// seen is when each recent commit was taken over; made is when the newest was committed.
	seen map[string]time.Time
	made time.Time
}

func newMetrics(claims client.Reader, now clock.PassiveClock) (*metrics, error) {
	m := &metrics{
		clock: now, seen: map[string]time.Time{},
		applySeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kubehenge_apply_seconds", Help: "Time that the API server took to apply one object.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2, 12)}, []string{"kind"}),
		syncSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kubehenge_sync_seconds", Help: "Time from taking a commit over until a claim that it changed was applied whole.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 14)}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubehenge_proxmox_calls_total", Help: "Calls to Proxmox VE by method and HTTP status; 0 is no answer."},
			[]string{"method", "status"}),
	}
	age := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kubehenge_commit_age_seconds", Help: "Age of the commit that is in force; 0 before the first."}, m.age)
	for _, c := range []prometheus.Collector{m.applySeconds, m.syncSeconds, m.calls, age, &phaseCollector{claims: claims}} {
		if err := ctrlmetrics.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// Applied is told how long an object's apply took.
func (m *metrics) Applied(kind string, took time.Duration) {
	m.applySeconds.WithLabelValues(kind).Observe(took.Seconds())
}

// Synced is told the commit of which a claim has been applied whole.
func (m *metrics) Synced(commit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.seen[commit]; ok {
		m.syncSeconds.Observe(m.clock.Since(at).Seconds())
	}
}

// rememberedCommits bounds the memory of when commits were taken over.
const rememberedCommits = 100

func (m *metrics) taken(commit string, made time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) >= rememberedCommits {
		clear(m.seen)
	}
	if _, known := m.seen[commit]; !known {
		m.seen[commit] = m.clock.Now()
	}
	m.made = made
}

func (m *metrics) age() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made.IsZero() {
		return 0
	}
	return m.clock.Since(m.made).Seconds()
}

func (m *metrics) proxmoxCall(method, _ string, status int) {
	m.calls.WithLabelValues(method, strconv.Itoa(status)).Inc()
}

// phaseCollector counts claims by phase, and broken overlays, when it is asked.
type phaseCollector struct{ claims client.Reader }

var overlays = prometheus.NewDesc("kubehenge_overlays", "Claims by phase; Broken are overlays without a live claim that do not render.", []string{"phase"}, nil)

// Describe names the one metric.
func (*phaseCollector) Describe(out chan<- *prometheus.Desc) { out <- overlays }

// Collect counts from the cache; a cache that is not ready counts nothing.
func (c *phaseCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var list v1alpha1.ClusterClaimList
	if err := c.claims.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	counts := map[string]int{}
	for i := range list.Items {
		counts[string(list.Items[i].Status.Phase)]++
	}
	var fleets v1alpha1.FleetList
	if err := c.claims.List(ctx, &fleets, client.UnsafeDisableDeepCopy); err == nil {
		for i := range fleets.Items {
			counts["Broken"] += len(fleets.Items[i].Status.Overlays)
		}
	}
	for phase, n := range counts {
		out <- prometheus.MustNewConstMetric(overlays, prometheus.GaugeValue, float64(n), phase)
	}
}
