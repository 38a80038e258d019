package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// About 1,000 messages with 370,000 tokens, like the longest recorded sessions.
func BenchmarkPlan(b *testing.B) {
	l := newLog().script("S2000")
	for i := range 450 {
		if i%10 == 0 {
			l.script("U60")
		}
		l.script("T120 R700")
	}
	l.policy = &compactordv1.Policy{ContextWindow: proto.Uint32(200_000)}
	s := l.state()
	for name, parameters := range map[string]*compactordv1.Strategy{
		"summarize":                      summarizing(nil),
		"prune_tool_outputs":             pruneTools(nil),
		"prune_tool_outputs, everything": pruneTools(pruneAll()),
	} {
		in := &strategies.Input{State: s, Policy: l.policy}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				made, err := registry().Plan(b.Context(), in, parameters)
				require.NoError(b, err)
				require.Zero(b, made.GetSkipReason())
			}
		})
		b.Run("check of "+name, func(b *testing.B) {
			made, err := registry().Plan(b.Context(), in, parameters)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, strategies.Check(in, made))
			}
		})
	}
}
