package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// resolved returns the policy in effect if a client sets this window and trigger.
func resolved(t *testing.T, window uint32, trigger *compactordv1.Trigger) *compactordv1.Policy {
	t.Helper()
	p := &compactordv1.Policy{Trigger: trigger}
	if window > 0 {
		p.ContextWindow = proto.Uint32(window)
	}
	p, err := strategies.Resolve(p)
	require.NoError(t, err)
	return p
}

// holding returns the report on a context of this many tokens, in two messages between which a cut is valid.
func holding(p *compactordv1.Policy, tokens uint32) *compactordv1.ContextReport {
	return strategies.Report(cuttable(&storagev1.Head{ViewTokens: tokens}), p)
}

func cuttable(h *storagev1.Head) *storagev1.Head {
	h.NextSequence, h.NextIndex, h.TailIndex = 3, 2, proto.Uint32(1)
	h.Active = []*storagev1.ActiveRange{{EndSequence: 3, EndIndex: 2}}
	return h
}

// requireDueAt checks that compaction is due from this many tokens on, and not before.
func requireDueAt(t *testing.T, p *compactordv1.Policy, tokens uint32) {
	t.Helper()
	require.True(t, holding(p, tokens).GetShouldCompact())
	require.False(t, holding(p, tokens-1).GetShouldCompact())
	require.Equal(t, tokens, holding(p, 0).GetTriggerTokens())
	require.Empty(t, holding(p, tokens).GetBlockedBy())
}

// byReserve has a ratio that is not reached before the reserve.
func byReserve(tokens uint32) *compactordv1.Trigger {
	return &compactordv1.Trigger{TriggerRatio: proto.Float64(1), ReserveTokens: proto.Uint32(tokens)}
}

func requirePolicyError(t *testing.T, field string, p *compactordv1.Policy) {
	t.Helper()
	_, err := strategies.Resolve(p)
	var refused *strategies.PolicyError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, field, refused.Field)
}

func TestCase029AtTheTrigger(t *testing.T) {
	t.Parallel()
	requireDueAt(t, resolved(t, 100_000, byReserve(10_000)), 90_000)
}

func TestCase030Disabled(t *testing.T) {
	t.Parallel()
	p := resolved(t, 100_000, &compactordv1.Trigger{Enabled: proto.Bool(false)})
	for _, tokens := range []uint32{0, 75_000, 4_000_000_000} {
		r := holding(p, tokens)
		require.False(t, r.GetShouldCompact())
		require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_DISABLED}, r.GetBlockedBy())
	}
}

func TestCase031WindowUnknown(t *testing.T) {
	t.Parallel()
	r := holding(resolved(t, 0, nil), 4_000_000_000)
	require.False(t, r.GetShouldCompact())
	require.Nil(t, r.TriggerTokens)
	require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN}, r.GetBlockedBy())
	requireDueAt(t, resolved(t, 0, &compactordv1.Trigger{TriggerTokens: proto.Uint32(5_000)}), 5_000)
	for _, trigger := range []*compactordv1.Trigger{
		{TriggerToolGroups: proto.Uint32(2)}, {MaxViewBytes: proto.Uint32(2)},
	} {
		p := resolved(t, 0, trigger)
		require.True(t, strategies.Report(cuttable(&storagev1.Head{ViewToolGroups: 2, ViewBytes: 2}), p).GetShouldCompact())
		r := strategies.Report(&storagev1.Head{ViewToolGroups: 1, ViewBytes: 1}, p)
		require.False(t, r.GetShouldCompact())
		require.Empty(t, r.GetBlockedBy())
	}
}

func TestCase032ReserveLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, reserve := range []uint32{100_000, 100_001} {
		requirePolicyError(t, "policy.trigger.reserve_tokens",
			&compactordv1.Policy{ContextWindow: proto.Uint32(100_000), Trigger: byReserve(reserve)})
	}
	requireDueAt(t, resolved(t, 100_000, byReserve(99_998)), 2)
	for _, window := range []uint32{1, 2, 3, 1000, 16_384} {
		require.False(t, holding(resolved(t, window, nil), 0).GetShouldCompact(), "the default reserve leaves three quarters")
	}
}

// The figures of kimi-cli.
func kimi(t *testing.T, window uint32, ratio float64) *compactordv1.Policy {
	t.Helper()
	return resolved(t, window, &compactordv1.Trigger{
		TriggerRatio: proto.Float64(ratio), ReserveTokens: proto.Uint32(50_000),
	})
}

func TestCase033ReserveComesFirst(t *testing.T) {
	t.Parallel()
	p := kimi(t, 200_000, 0.85)
	requireDueAt(t, p, 150_000)
	require.False(t, holding(p, 140_000).GetShouldCompact())
}

func TestCase034RatioComesFirst(t *testing.T) {
	t.Parallel()
	p := kimi(t, 1_000_000, 0.85)
	requireDueAt(t, p, 850_000)
	require.False(t, holding(p, 840_000).GetShouldCompact())
}

func TestCase035LowerRatio(t *testing.T) {
	t.Parallel()
	requireDueAt(t, kimi(t, 200_000, 0.7), 140_000)
}

func TestCase036EmptyContext(t *testing.T) {
	t.Parallel()
	require.False(t, holding(kimi(t, 200_000, 0.85), 0).GetShouldCompact())
	least := &compactordv1.Trigger{TriggerRatio: proto.Float64(1e-12)}
	require.False(t, holding(resolved(t, 200_000, least), 0).GetShouldCompact(), "however small the ratio")
	requireDueAt(t, resolved(t, 200_000, least), 1)
}

// klaude-code's threshold is a share of what the output limit leaves of the window, set in tokens or as a reserve.
func TestCase038KlaudesFigures(t *testing.T) {
	t.Parallel()
	requireDueAt(t, resolved(t, 200_000, &compactordv1.Trigger{TriggerTokens: proto.Uint32(126_000)}), 126_000)
	requireDueAt(t, resolved(t, 1_000_000, &compactordv1.Trigger{TriggerTokens: proto.Uint32(436_000)}), 436_000)
	requireDueAt(t, resolved(t, 200_000, byReserve(32_000+16_384)), 151_616)
}

// The output limit is not subtracted from anything: reserve_tokens says what must stay free.
func TestCase039OutputAsLargeAsTheWindow(t *testing.T) {
	t.Parallel()
	p, err := strategies.Resolve(&compactordv1.Policy{
		ContextWindow: proto.Uint32(32_000), MaxOutputTokens: proto.Uint32(32_000),
	})
	require.NoError(t, err)
	requireDueAt(t, p, 24_000)
	require.True(t, proto.Equal(resolved(t, 32_000, nil).GetTrigger(), p.GetTrigger()))
}

func TestCase040OpencodesFigures(t *testing.T) {
	t.Parallel()
	requireDueAt(t, resolved(t, 100_000, byReserve(8_000)), 92_000)
	requireDueAt(t, resolved(t, 100_000, &compactordv1.Trigger{TriggerTokens: proto.Uint32(40_000)}), 40_000)
}

func TestCase041NothingUsable(t *testing.T) {
	t.Parallel()
	requirePolicyError(t, "policy.trigger.reserve_tokens", &compactordv1.Policy{
		ContextWindow: proto.Uint32(8_000), MaxOutputTokens: proto.Uint32(8_000), Trigger: byReserve(8_000),
	})
}

func TestCase042XbotsFigures(t *testing.T) {
	t.Parallel()
	p := resolved(t, 91_808, &compactordv1.Trigger{TriggerRatio: proto.Float64(0.9), ReserveTokens: proto.Uint32(0)})
	requireDueAt(t, p, 82_628)
}

// The lowest trigger in tokens counts, and other triggers count beside it.
func TestLowestTrigger(t *testing.T) {
	t.Parallel()
	three := &compactordv1.Trigger{
		TriggerTokens: proto.Uint32(60_000), TriggerRatio: proto.Float64(0.7), ReserveTokens: proto.Uint32(20_000),
	}
	requireDueAt(t, resolved(t, 100_000, three), 60_000)
	three.TriggerTokens = proto.Uint32(90_000)
	requireDueAt(t, resolved(t, 100_000, three), 70_000)
	three.ReserveTokens = proto.Uint32(40_000)
	requireDueAt(t, resolved(t, 100_000, three), 60_000)
}

// What never changes at the start of a request is no reason to compact: it stays in the provider's cache.
func TestTriggerByTheConversation(t *testing.T) {
	t.Parallel()
	p := resolved(t, 200_000, &compactordv1.Trigger{TriggerConversationTokens: proto.Uint32(30_000)})
	requireDueAt(t, p, 30_000)
	p.OverheadTokens = proto.Uint32(25_000)
	due := func(tokens uint32) *compactordv1.ContextReport {
		return strategies.Report(cuttable(&storagev1.Head{LeadTokens: 5_000, ViewTokens: tokens}), p)
	}
	require.EqualValues(t, 60_000, due(0).GetTriggerTokens())
	require.True(t, due(35_000).GetShouldCompact())
	require.False(t, due(34_999).GetShouldCompact())
	p.OverheadTokens = proto.Uint32(130_000)
	require.EqualValues(t, 150_000, due(0).GetTriggerTokens(), "the ratio is lower")
	requireDueAt(t, resolved(t, 0, &compactordv1.Trigger{TriggerConversationTokens: proto.Uint32(30_000)}), 30_000)
}

// A trigger or a target of the caller's own is not hidden by the lower one of the preset.
func TestATriggerReplacesThatByTheConversation(t *testing.T) {
	t.Parallel()
	for _, own := range []*compactordv1.Trigger{
		{TriggerTokens: proto.Uint32(150_000)},
		{TriggerRatio: proto.Float64(0.75)},
		{TargetTokens: proto.Uint32(conversation)},
	} {
		requireDueAt(t, resolved(t, 200_000, own), 150_000)
	}
	for _, own := range []*compactordv1.Trigger{
		nil,
		{ReserveTokens: proto.Uint32(20_000)},
		{TargetTokens: proto.Uint32(conversation - 1)},
		{TriggerRatio: proto.Float64(0.75), TriggerConversationTokens: proto.Uint32(conversation)},
	} {
		requireDueAt(t, resolved(t, 200_000, own), conversation)
	}
}

// conversation is trigger_conversation_tokens in `default`.
const conversation = 45_000

func TestDefaultsByWindow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ window, reserve, trigger, target uint32 }{
		{1_000_000, 16_384, 45_000, 27_000},
		{200_000, 16_384, 45_000, 27_000},
		{65_532, 16_383, 45_000, 27_000},
		{60_000, 15_000, 45_000, 27_000},
		{59_996, 14_999, 44_997, 26_998},
		{8_000, 2_000, 6_000, 3_600},
		{2, 0, 2, 1},
	} {
		p := resolved(t, test.window, nil)
		require.Equal(t, test.reserve, p.GetTrigger().GetReserveTokens(), test)
		require.Equal(t, test.target, p.GetTrigger().GetTargetTokens(), test)
		require.Equal(t, test.target, holding(p, 0).GetTargetTokens(), test)
		requireDueAt(t, p, test.trigger)
	}
	require.Nil(t, resolved(t, 0, nil).GetTrigger().TargetTokens)
}

func TestTargetLiesBelowTheTrigger(t *testing.T) {
	t.Parallel()
	for _, trigger := range []*compactordv1.Trigger{
		{TargetTokens: proto.Uint32(75_000)},
		{TargetTokens: proto.Uint32(5_000), TriggerTokens: proto.Uint32(5_000)},
		{TargetTokens: proto.Uint32(50_001), ReserveTokens: proto.Uint32(50_000)},
	} {
		p := &compactordv1.Policy{ContextWindow: proto.Uint32(100_000), Trigger: trigger}
		requirePolicyError(t, "policy.trigger.target_tokens", p)
	}
	requirePolicyError(t, "policy.trigger.target_tokens", &compactordv1.Policy{Trigger: &compactordv1.Trigger{
		TargetTokens: proto.Uint32(10), TriggerTokens: proto.Uint32(10),
	}})
	_, err := strategies.Resolve(
		&compactordv1.Policy{ContextWindow: proto.Uint32(100_000), Trigger: &compactordv1.Trigger{TargetTokens: proto.Uint32(60_000)}},
		&compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(60_000)}},
	)
	require.ErrorIs(t, err, strategies.ErrPolicy, "given by different layers")
	given := resolved(t, 100_000, &compactordv1.Trigger{TargetTokens: proto.Uint32(74_999)})
	require.Equal(t, uint32(74_999), given.GetTrigger().GetTargetTokens())
	lowered := resolved(t, 100_000, &compactordv1.Trigger{TriggerTokens: proto.Uint32(40_000)})
	require.Equal(t, uint32(27_000), lowered.GetTrigger().GetTargetTokens(), "it is still below")
	lowered = resolved(t, 100_000, &compactordv1.Trigger{TriggerTokens: proto.Uint32(20_000)})
	require.Equal(t, uint32(10_000), lowered.GetTrigger().GetTargetTokens(), "the default gives way")
	least := resolved(t, 100_000, &compactordv1.Trigger{TriggerTokens: proto.Uint32(1)})
	require.Equal(t, uint32(1), least.GetTrigger().GetTargetTokens())
	unknown := resolved(t, 0, &compactordv1.Trigger{TargetTokens: proto.Uint32(10)})
	require.Equal(t, uint32(10), unknown.GetTrigger().GetTargetTokens(), "where no trigger is known none is contradicted")
}
