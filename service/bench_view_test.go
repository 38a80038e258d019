package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// benchedViewKB are the sizes of the views that are measured, in kB.
var benchedViewKB = []int{80, 800, 8000}

// withReads returns a daemon with a session of turns that each read a file of 4 kB, whose view has about kilobytes kB.
func withReads(b *testing.B, kilobytes int) *daemon {
	b.Helper()
	d := start(b)
	d.create("s", nil)
	text := strings.Repeat("The quick brown fox said: \"jump\".\n", 58)
	for turn := range kilobytes / 8 {
		id := fmt.Sprintf("call_%d", turn)
		d.append("s", user(text), assistant("I do.", call(id, "read", `{"path":"`+id+`.go"}`)),
			toolResult(id, text+text), assistant(text))
	}
	return d
}

// benchmarkViews runs a benchmark for each size of a view, neutral and in each dialect. asking returns a call to measure for
// each of them. Each call in a dialect has a neutral one next to it, so that what else the machine does slows down both.
func benchmarkViews(
	b *testing.B, asking func(b *testing.B, d *daemon, kinds []compactordv1.Dialect) []func(),
) {
	b.Helper()
	kinds := []compactordv1.Dialect{compactordv1.Dialect_DIALECT_UNSPECIFIED}
	for _, shape := range dialects.All() {
		kinds = append(kinds, shape.Kind())
	}
	for _, kilobytes := range benchedViewKB {
		d := withReads(b, kilobytes)
		calls := asking(b, d, kinds)
		b.Run(fmt.Sprintf("kB=%d/neutral", kilobytes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				calls[0]()
			}
		})
		for i, shape := range dialects.All() {
			b.Run(fmt.Sprintf("kB=%d/%s", kilobytes, shape.Name()), func(b *testing.B) {
				besideNeutral(b, calls[0], calls[i+1])
			})
		}
		d.stop()
	}
}

// besideNeutral measures a call, and a neutral one before each. It reports how many times the median of the neutral calls
// the call's is, and how long of a hundred calls the slowest but one took.
func besideNeutral(b *testing.B, neutral, call func()) {
	b.Helper()
	var base, took []time.Duration
	timed := func(all *[]time.Duration, call func()) {
		begin := time.Now()
		call()
		*all = append(*all, time.Since(begin))
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		timed(&base, neutral)
		b.StartTimer()
		timed(&took, call)
	}
	slices.Sort(base)
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/float64(base[len(base)/2]), "x-neutral")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

// BenchmarkFullView is a whole view, page by page. Target: a dialect takes 1.5 times as long as neutral messages.
func BenchmarkFullView(b *testing.B) {
	benchmarkViews(b, func(b *testing.B, d *daemon, kinds []compactordv1.Dialect) []func() {
		b.Helper()
		var calls []func()
		for _, kind := range kinds {
			calls = append(calls, func() { wholeView(b, d, kind) })
		}
		return calls
	})
}

// BenchmarkDelta is a view of one new message of 2 kB for a client that has the rest. Target: a dialect takes 1.5 times as
// long as neutral messages, however large the view is.
func BenchmarkDelta(b *testing.B) {
	benchmarkViews(b, func(b *testing.B, d *daemon, kinds []compactordv1.Dialect) []func() {
		b.Helper()
		var calls []func()
		for _, kind := range kinds {
			r := viewRequest()
			r.Dialect, r.ViewToken = kind, wholeView(b, d, kind).GetViewToken()
			calls = append(calls, func() {
				answer, err := d.compactions.GetLLMView(b.Context(), r)
				if err != nil || len(answer.GetMessages())+len(answer.GetMessagesJson()) != 1 {
					b.Fatal(err)
				}
			})
		}
		d.append("s", user(strings.Repeat("x", 2000)))
		return calls
	})
}

// wholeView reads all pages of a view, and returns the last one.
func wholeView(b *testing.B, d *daemon, kind compactordv1.Dialect) *compactordv1.GetLLMViewResponse {
	b.Helper()
	r := viewRequest()
	r.Dialect = kind
	for {
		answer, err := d.compactions.GetLLMView(b.Context(), r)
		require.NoError(b, err)
		if !answer.GetHasMore() {
			return answer
		}
		r.ViewToken = answer.GetViewToken()
	}
}
