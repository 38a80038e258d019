package load

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	viewBytes = 800_000
	neutral   = compactordv1.Dialect_DIALECT_UNSPECIFIED
)

// BenchmarkView is a whole view: of neutral messages beside the echo of it, and in each dialect beside the neutral one.
func BenchmarkView(b *testing.B) {
	d, e := start(b), startEcho(b)
	d.create("s", nil, conversation(viewBytes)...)
	e.hold(d.view("s", neutral))
	plain := func() { d.view("s", neutral) }
	b.Run("kB=800/dialect=none/base=echo", func(b *testing.B) {
		beside(b, 1.5, e.view, plain)
		d.allocations(b, plain)
	})
	for _, shape := range dialects.All() {
		b.Run(fmt.Sprintf("kB=800/dialect=%s/base=neutral", shape.Name()), func(b *testing.B) {
			ours := func() { d.view("s", shape.Kind()) }
			beside(b, 1.5, plain, ours)
			d.allocations(b, ours)
		})
	}
}

// BenchmarkDelta is a view of one new message of 2 kB for a client that has the rest, in each dialect beside neutral
// messages, in a small, a usual and a large view.
func BenchmarkDelta(b *testing.B) {
	d := start(b)
	for _, kilobytes := range []int{80, 800, 8000} {
		id, token := fmt.Sprint(kilobytes), map[compactordv1.Dialect]string{}
		d.create(id, nil, conversation(kilobytes*1000)...)
		token[neutral] = d.view(id, neutral).GetViewToken()
		for _, shape := range dialects.All() {
			token[shape.Kind()] = d.view(id, shape.Kind()).GetViewToken()
		}
		d.append(id, user(prose(2000)))
		plain := func() { d.delta(id, neutral, token[neutral]) }
		for _, shape := range dialects.All() {
			b.Run(fmt.Sprintf("kB=%d/dialect=%s/base=neutral", kilobytes, shape.Name()), func(b *testing.B) {
				ours := func() { require.Len(b, d.delta(id, shape.Kind(), token[shape.Kind()]).GetMessagesJson(), 1) }
				beside(b, 1.5, plain, ours)
				d.allocations(b, ours)
			})
		}
	}
}

// BenchmarkCold is the first view of a session since the daemon started, beside the second.
func BenchmarkCold(b *testing.B) {
	const sessions, messages, size = 20, 10_000, 80
	d := start(b)
	var lines []*compactordv1.Message
	for i := range messages / 2 {
		lines = append(lines, user(fmt.Sprintf("%-*d", size, i)), assistant(fmt.Sprintf("%-*d", size, i)))
	}
	for i := range sessions {
		d.create(fmt.Sprint(i), nil, lines...)
	}
	d.stop()
	d = serve(b, d.store)
	for _, kind := range []compactordv1.Dialect{neutral, compactordv1.Dialect_DIALECT_ANTHROPIC} {
		b.Run(fmt.Sprintf("kB=800/messages=10000/dialect=%s/base=warm", nameOf(kind)), func(b *testing.B) {
			var cold, warm samples
			for i := 0; b.Loop(); i++ {
				if i%sessions == 0 {
					b.StopTimer()
					d.stop()
					d = serve(b, d.store)
					b.StartTimer()
				}
				cold.time(func() { d.view(fmt.Sprint(i%sessions), kind) })
				warm.time(func() { d.view(fmt.Sprint(i%sessions), kind) })
			}
			report(b, 3, warm, cold)
		})
	}
}

func nameOf(kind compactordv1.Dialect) string {
	for _, shape := range dialects.All() {
		if shape.Kind() == kind {
			return shape.Name()
		}
	}
	return "none"
}

// BenchmarkBehindCut are calls on a session with many covered messages, beside the same on one with 1,000. The summaries of
// both fill the same budget: how long a summary is, its policy says, and not what lies behind the cut.
func BenchmarkBehindCut(b *testing.B) {
	const few, kept, summaryTokens = 1000, 50, 2000
	policy := keeping(kept)
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(summaryTokens)
	d := start(b)
	token := map[string]string{}
	grow := func(covered int) string {
		id := fmt.Sprint(covered)
		var lines []*compactordv1.Message
		for i := range (covered + kept) / 2 {
			lines = append(lines, user(fmt.Sprintf("request %-100d", i)), assistant(fmt.Sprintf("answer %-100d", i)))
		}
		d.create(id, nil, lines...)
		require.Equal(b, uint32(covered), d.compact(id, policy).GetFirstKeptIndex())
		token[id] = d.view(id, compactordv1.Dialect_DIALECT_OPENAI_CHAT).GetViewToken()
		d.append(id, user("more"))
		// What is appended while it is measured must not grow the views.
		fork := "appends-" + id
		_, err := d.sessions.ForkSession(b.Context(), &compactordv1.ForkSessionRequest{SessionId: id, NewSessionId: fork})
		require.NoError(b, err)
		return id
	}
	base := grow(few)
	for _, covered := range []int{10_000, 100_000} {
		id := grow(covered)
		for name, call := range map[string]func(id string){
			"view":   func(id string) { d.view(id, neutral) },
			"delta":  func(id string) { d.delta(id, compactordv1.Dialect_DIALECT_OPENAI_CHAT, token[id]) },
			"append": func(id string) { d.append("appends-"+id, user("more")) },
		} {
			b.Run(fmt.Sprintf("%s/covered=%d/base=covered_1000", name, covered), func(b *testing.B) {
				beside(b, 1.1, func() { call(base) }, func() { call(id) })
			})
		}
	}
}
