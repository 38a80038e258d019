package load

import (
	"slices"
	"testing"
	"time"
)

// samples are how long each call took.
type samples []time.Duration

func (s *samples) time(call func()) {
	begin := time.Now()
	call()
	*s = append(*s, time.Since(begin))
}

func (s *samples) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(*s))
	return sorted[len(sorted)*p/100]
}

// beside measures a call, and a baseline before each.
func beside(b *testing.B, target float64, base, ours func()) {
	b.Helper()
	var bases, took samples
	for b.Loop() {
		bases.time(base)
		took.time(ours)
	}
	report(b, target, bases, took)
}

func report(b *testing.B, target float64, bases, took samples) {
	b.Helper()
	base, median := bases.percentile(50), took.percentile(50)
	b.ReportMetric(float64(base.Nanoseconds()), "base-ns")
	b.ReportMetric(float64(median.Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took.percentile(99).Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(median)/float64(base), "x-base")
	b.ReportMetric(target, "x-target")
}

// allocations reports what the daemon allocates for a call.
func (d *daemon) allocations(b *testing.B, call func()) {
	b.Helper()
	const calls = 200
	b.ReportAllocs()
	figures := func() []float64 { return d.gauges("go_memstats_mallocs_total", "go_memstats_alloc_bytes_total") }
	// What a look at the metrics allocates is in both differences.
	before := figures()
	idle := figures()
	for range calls {
		call()
	}
	after := figures()
	for i, unit := range []string{"allocs/op", "B/op"} {
		b.ReportMetric(max(0, (after[i]-idle[i])-(idle[i]-before[i]))/calls, unit)
	}
}
