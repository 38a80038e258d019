package service_test

import (
	"fmt"
	"strings"
	"testing"

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

// benchmarkViews runs a benchmark for each size of a view, neutral and in each dialect.
func benchmarkViews(b *testing.B, run func(b *testing.B, d *daemon, kind compactordv1.Dialect)) {
	b.Helper()
	for _, kilobytes := range benchedViewKB {
		d := withReads(b, kilobytes)
		b.Run(fmt.Sprintf("kB=%d/neutral", kilobytes), func(b *testing.B) {
			run(b, d, compactordv1.Dialect_DIALECT_UNSPECIFIED)
		})
		for _, shape := range dialects.All() {
			b.Run(fmt.Sprintf("kB=%d/%s", kilobytes, shape.Name()), func(b *testing.B) { run(b, d, shape.Kind()) })
		}
		d.stop()
	}
}

// BenchmarkFullView is a whole view, page by page. Target: a dialect takes 1.5 times as long as neutral messages.
func BenchmarkFullView(b *testing.B) {
	benchmarkViews(b, func(b *testing.B, d *daemon, kind compactordv1.Dialect) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			wholeView(b, d, kind)
		}
	})
}

// BenchmarkDelta is a view of one new message of 2 kB for a client that has the rest. Target: a dialect takes 1.5 times as
// long as neutral messages, however large the view is.
func BenchmarkDelta(b *testing.B) {
	benchmarkViews(b, func(b *testing.B, d *daemon, kind compactordv1.Dialect) {
		b.Helper()
		held := wholeView(b, d, kind)
		d.append("s", user(strings.Repeat("x", 2000)))
		r := viewRequest()
		r.Dialect, r.ViewToken = kind, held.GetViewToken()
		b.ReportAllocs()
		for b.Loop() {
			answer, err := d.compactions.GetLLMView(b.Context(), r)
			if err != nil || len(answer.GetMessages())+len(answer.GetMessagesJson()) != 1 {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		d.append("s", assistant("Done."))
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
