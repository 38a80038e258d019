package strategies_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Under each preset, in each window and with each output limit: the policy is refused, or a warning says that it never
// compacts, or a conversation that fills the window is compacted before a request is too large.
func TestPresetsActOrSayThatTheyCannot(t *testing.T) {
	t.Parallel()
	acted, warned := 0, 0
	for _, name := range strategies.PresetNames() {
		for _, window := range []uint32{500, 2_000, 8_000, 32_000, 128_000, 200_000} {
			for _, output := range []uint32{0, 1, window / 8, window / 2, window - 150, window - 1, window, 2 * window} {
				p, err := strategies.Resolve(&compactordv1.Policy{
					Preset: &name, ContextWindow: &window, MaxOutputTokens: given(output),
				})
				if err != nil {
					require.ErrorIs(t, err, strategies.ErrPolicy)
					continue
				}
				warnings, acts := strategies.Warnings(p, false), actsIn(t, p)
				if len(warnings) > 0 {
					warned++
				}
				if acts {
					acted++
				}
				require.True(t, acts || len(warnings) > 0, "%s in %d with %d", name, window, output)
				require.False(t, acts && !p.GetTrigger().GetEnabled())
			}
		}
	}
	require.Greater(t, acted, 300)
	require.Greater(t, warned, 5)
}

// actsIn says whether a policy compacts a conversation that fills its window.
func actsIn(t *testing.T, p *compactordv1.Policy) bool {
	t.Helper()
	l := newLog().script("U20")
	l.policy = p
	limit := session.ContextLimit(p)
	for l.head().GetViewTokens() < limit {
		l.script(fmt.Sprintf("T2 R%d T2 R%d A%d U10", limit/30, limit/30, limit/60))
		if !strategies.ReportPlanned(l.head(), p, true).GetShouldCompact() {
			continue
		}
		planned, err := registry().PlanDue(t.Context(), l.state(), p)
		require.NoError(t, err)
		if planned.GetShrinksView() {
			return true
		}
	}
	return false
}

func TestPolicyWarnings(t *testing.T) {
	t.Parallel()
	warnings := func(p *compactordv1.Policy, disabled bool) []*compactordv1.PolicyWarning {
		resolved, err := strategies.Resolve(p)
		require.NoError(t, err)
		return strategies.Warnings(resolved, disabled)
	}
	klaude := &compactordv1.Policy{
		Preset: proto.String("klaude"), ContextWindow: proto.Uint32(32_000), MaxOutputTokens: proto.Uint32(32_000),
	}
	require.Contains(t, warnings(klaude, false)[0].GetText(), "an output limit of 32000 leaves nothing of a window of 32000")
	require.Empty(t, warnings(klaude, true), "the caller disabled it")
	high := &compactordv1.Policy{
		ContextWindow: proto.Uint32(32_000), Trigger: &compactordv1.Trigger{
			TriggerTokens: proto.Uint32(40_000), TriggerRatio: proto.Float64(1), ReserveTokens: proto.Uint32(0),
		},
	}
	require.Empty(t, warnings(high, false), "the lower trigger counts")
	high.Preset, high.Trigger = proto.String("klaude"), &compactordv1.Trigger{TriggerTokens: proto.Uint32(40_000)}
	require.Contains(t, warnings(high, false)[0].GetText(), "due at 40000 tokens, but a request can hold only 32000")
	require.Empty(t, warnings(&compactordv1.Policy{}, false), "the report says that the window is unknown")
}
