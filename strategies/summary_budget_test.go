package strategies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Seed case 107: 0.8 of the reserve for the complete turns. In `pi` another 0.5 of it for the first part of a split
// turn, and the text that joins the two.
func TestCase107BudgetsOfSummaries(t *testing.T) {
	t.Parallel()
	whole := func(preset string, l strategies.Limits, log string) uint32 {
		_, made := byPreset(t, presetFor(t, preset, l, nil), log)
		require.NotNil(t, made.GetCut())
		return made.GetCut().GetMaxSummaryTokens()
	}
	const turns, split = "U100 A60000 U100 A19900", "U100 A60000 U100 A30000 A20000"
	window := strategies.Limits{Window: 200_000}
	require.Equal(t, uint32(16_384*8/10), whole("pi", window, turns))
	require.Equal(t, uint32(13_107+8_192+strategies.JoinTokens), whole("pi", window, split))
	require.Equal(t, uint32(8_192+strategies.JoinTokens), whole("pi", window, "U100 A60000 A20000"), "no complete turn")
	require.Equal(t, uint32(15_000), whole("default", window, "U100 A30000 U100 A9000 A11300"), "all of it has what the policy says")
	for _, c := range []struct{ window, output, want uint32 }{
		{200_000, 32_000, 13_107}, {6_000, 1_000, 1_024}, {30_000, 8_000, 5_500 * 8 / 10},
	} {
		p := presetFor(t, "klaude", strategies.Limits{Window: c.window, MaxOutput: c.output}, nil)
		require.Equal(t, c.want, p.GetStrategy().GetSummarize().GetMaxSummaryTokens(), c)
	}
}

// Seed case 112: the kept part, the leading messages, tokens that are not in the log, and the whole budget of the summary
// together stay below the trigger, in every window.
func TestCase112SummaryLeavesRoomForTheNextRequest(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"pi", "klaude", "kimi", "opencode"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			requireRoomFor(t, preset)
		})
	}
}

func requireRoomFor(t *testing.T, preset string) {
	t.Helper()
	for window := uint32(26_000); window < 60_000; window += 331 {
		p := presetFor(t, preset, strategies.Limits{Window: window, MaxOutput: 8_000}, nil)
		overhead := uint32(1_500)
		p.OverheadTokens = &overhead
		trigger, holds := session.TriggerTokens(p)
		require.True(t, holds)
		l := newLog().script("S500 " + strings.Repeat("U100 A900 ", int(window/1000)))
		l.policy = p
		made := plannedFor(t, l, due, p.GetStrategy().GetSummarize())
		require.NotNil(t, made.GetCut(), window)
		kept := overhead + 500
		for _, m := range l.state().Kept {
			if m.GetIndex() >= made.GetCut().GetFirstKeptIndex() {
				kept += m.GetTokens()
			}
		}
		require.Less(t, kept+made.GetCut().GetMaxSummaryTokens(), trigger, "a window of %d", window)
		require.GreaterOrEqual(t, made.GetCut().GetMaxSummaryTokens(), uint32(750), "a window of %d", window)
	}
}

// A summary that fills its budget is smaller than what it replaces, in every window. Otherwise it would be useless.
func TestFilledBudgetsGain(t *testing.T) {
	t.Parallel()
	for _, reason := range []compactordv1.CompactionReason{due, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL} {
		for size := 21; size < 40; size++ {
			t.Run(fmt.Sprintf("%v of %d turns", reason, size), func(t *testing.T) {
				t.Parallel()
				p := presetFor(t, "pi", strategies.Limits{Window: 26_700}, nil)
				l := newLog().script(strings.Repeat("U100 A900 ", size))
				l.policy = p
				cut := plannedFor(t, l, reason, p.GetStrategy().GetSummarize()).GetCut()
				require.NotNil(t, cut)
				var covered uint32
				for _, m := range l.state().Kept {
					if m.GetIndex() < cut.GetFirstKeptIndex() {
						covered += m.GetTokens()
					}
				}
				require.LessOrEqual(t, cut.GetMaxSummaryTokens(), covered-covered/4)
			})
		}
	}
}
