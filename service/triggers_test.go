package service_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// contradictory are policies that no session may have, with the field to mend.
func contradictory() map[string]*compactordv1.Policy {
	return map[string]*compactordv1.Policy{
		"policy.trigger.reserve_tokens": {
			ContextWindow: proto.Uint32(20_000), Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(20_000)},
		},
		"policy.trigger.target_tokens": {
			ContextWindow: proto.Uint32(20_000), Trigger: &compactordv1.Trigger{TargetTokens: proto.Uint32(15_000)},
		},
	}
}

// A policy that contradicts itself is refused wherever it comes from, and changes nothing.
func TestContradictoryPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	before := d.create("s", small(1000))
	d.append("s", working(3, 500)...)
	for field, policy := range contradictory() {
		_, create := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "new", Policy: policy})
		_, update := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", Policy: policy, UpdateMask: mask("policy"),
		})
		_, compact := d.compact(compactRequest("s", policy))
		_, prune := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: policy,
		})
		for _, err := range []error{create, update, compact, prune} {
			info := requireReason(t, err, codes.InvalidArgument, "INVALID_POLICY")
			require.Equal(t, field, info.GetMetadata()["field"])
		}
	}
	after, err := d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.True(t, proto.Equal(before.GetResolvedPolicy(), after.GetSession().GetResolvedPolicy()))
}

func TestCase037RatioOutOfRange(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, ratio := range []float64{0, -0.5, 1.01, 85, math.NaN(), math.Inf(1)} {
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			SessionId: "s", Policy: &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerRatio: &ratio}},
		})
		requireInvalid(t, err, "policy.trigger.trigger_ratio", "trigger_ratio")
	}
	for _, ratio := range []float64{0.01, 0.49, 1} {
		taken := d.create("", &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerRatio: &ratio}})
		require.InDelta(t, ratio, taken.GetResolvedPolicy().GetTrigger().GetTriggerRatio(), 0)
	}
}

// No count of looks holds up a compaction: one that helped is due again when the context is full again, at the next look
// if need be.
func TestCase043NoCooldown(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	for range 2 {
		d.append("s", working(30, 2000)[1:]...)
		require.True(t, d.report("s").GetShouldCompact())
		events, err := d.compactFor(threshold, nil)
		require.NoError(t, err)
		require.NotNil(t, last(t, events).GetCompleted())
		require.False(t, d.report("s").GetShouldCompact())
	}
}

// A disabled trigger leaves manual compaction alone.
func TestDisabledIsByItselfOnly(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(1000)
	policy.Trigger = &compactordv1.Trigger{Enabled: proto.Bool(false)}
	d.create("s", policy)
	d.append("s", working(30, 2000)...)
	require.False(t, d.report("s").GetShouldCompact())
	events, err := d.compactFor(threshold, nil)
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD, last(t, events).GetSkipped().GetReason())
	require.Contains(t, last(t, events).GetSkipped().GetMessage(), "disabled")
	events, err = d.compactFor(manual, nil)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
}

// kimi-code#2498: what is outside the log is above the trigger, and compacting never helps. The error has the figures.
func TestWhatIsOutsideTheLogMayBeTooMuch(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(1000)
	policy.OverheadTokens = proto.Uint32(16_000)
	d.create("s", policy)
	d.append("s", working(3, 500)...)
	r := d.report("s")
	require.False(t, r.GetShouldCompact())
	require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE}, r.GetBlockedBy())
	_, err := d.compactFor(threshold, nil)
	info := requireReason(t, err, codes.FailedPrecondition, "TARGET_UNREACHABLE")
	require.Equal(t, "15000", info.GetMetadata()["trigger_tokens"])
	require.Len(t, info.GetMetadata()["fixed_tokens"], 5)
	policy.Trigger = &compactordv1.Trigger{Enabled: proto.Bool(false)}
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", Policy: policy, UpdateMask: mask("policy"),
	})
	require.NoError(t, err)
	require.ElementsMatch(t, []compactordv1.BlockedBy{
		compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE, compactordv1.BlockedBy_BLOCKED_BY_DISABLED,
	}, d.report("s").GetBlockedBy(), "each reason that holds")
}

// Tool groups and bytes make compaction due without a window, and say so where they do not.
func TestTriggersWithoutAWindow(t *testing.T) {
	t.Parallel()
	for says, trigger := range map[string]*compactordv1.Trigger{
		"tool groups": {TriggerToolGroups: proto.Uint32(4)},
		"bytes":       {MaxViewBytes: proto.Uint32(20_000)},
	} {
		d := start(t)
		policy := small(100)
		policy.ContextWindow, policy.Trigger = nil, trigger
		d.create("s", policy)
		d.append("s", working(3, 100)...)
		require.False(t, d.report("s").GetShouldCompact())
		require.Empty(t, d.report("s").GetBlockedBy())
		events, err := d.compactFor(threshold, nil)
		require.NoError(t, err)
		require.Contains(t, last(t, events).GetSkipped().GetMessage(), says)
		d.append("s", working(60, 100)[1:]...)
		require.True(t, d.report("s").GetShouldCompact())
		events, err = d.compactFor(threshold, nil)
		require.NoError(t, err)
		require.NotNil(t, last(t, events).GetCompleted())
		require.False(t, d.report("s").GetShouldCompact())
	}
}

// An image by its address counts many tokens and few bytes: hiding it helps tokens, and makes a view that is too large in
// bytes larger.
func TestPruneByBytesWhereBytesWereTheTrigger(t *testing.T) {
	t.Parallel()
	d := start(t)
	picture := toolResult("a", "")
	picture.GetParts()[0].GetToolResult().Parts = []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Media{
		Media: &compactordv1.MediaPart{MimeType: "image/png", Source: &compactordv1.MediaPart_Uri{Uri: "https://a.example/1"}},
	}}}
	messages := []*compactordv1.Message{user("Look."), assistant("", call("a", "look", "{}")), picture, user("Thanks.")}
	pruned := func(id string, trigger *compactordv1.Trigger) *compactordv1.PruneResponse {
		policy := hideAllBut(0)
		policy.Trigger = trigger
		d.create(id, policy)
		d.append(id, messages...)
		answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: id},
		})
		require.NoError(t, err)
		return answer
	}
	require.NotNil(t, pruned("by-tokens", nil).GetPrune())
	answer := pruned("by-bytes", &compactordv1.Trigger{MaxViewBytes: proto.Uint32(10)})
	require.Nil(t, answer.GetPrune())
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NO_GAIN, answer.GetSkipReason())
	require.Contains(t, answer.GetMessage(), "bytes")
}

func (d *daemon) classify(req *compactordv1.ClassifyErrorRequest) *compactordv1.ClassifyErrorResponse {
	d.t.Helper()
	answer, err := d.compactions.ClassifyError(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

func TestClassifyError(t *testing.T) {
	t.Parallel()
	d := start(t, func(o *service.ServerOptions) {
		o.Overflow.Patterns = append(o.Overflow.Patterns, overflow.Pattern{ID: "ours", Expression: "over the brim"})
	})
	answer := d.classify(&compactordv1.ClassifyErrorRequest{
		ErrorText: "prompt is too long: 210000 tokens > 200000 maximum", HttpStatus: 400,
	})
	require.Equal(t, compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW, answer.GetErrorClass())
	require.Equal(t, []uint32{210_000, 200_000}, []uint32{answer.GetRequestedTokens(), answer.GetLimitTokens()})
	require.Equal(t, "ours", d.classify(&compactordv1.ClassifyErrorRequest{ErrorText: "Over the brim"}).GetRule())
	require.Equal(t, compactordv1.ErrorClass_ERROR_CLASS_OTHER,
		d.classify(&compactordv1.ClassifyErrorRequest{}).GetErrorClass())
	_, err := d.compactions.ClassifyError(t.Context(), &compactordv1.ClassifyErrorRequest{
		ErrorText: strings.Repeat("x", 1<<20+1),
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// The window is the request's, else that of the session's policy.
func TestClassifyErrorBySession(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.create("unknown", nil)
	silent := func(id string, window uint32) *compactordv1.ClassifyErrorRequest {
		return &compactordv1.ClassifyErrorRequest{
			SessionId: id, ContextWindow: window, StopReason: compactordv1.StopReason_STOP_REASON_END,
			Usage: &compactordv1.Usage{InputTokens: 20_001},
		}
	}
	require.True(t, d.classify(silent("s", 0)).GetOverflow())
	require.False(t, d.classify(silent("s", 20_001)).GetOverflow(), "the request's window wins")
	require.True(t, d.classify(silent("", 20_000)).GetOverflow())
	require.False(t, d.classify(silent("unknown", 0)).GetOverflow())
	require.False(t, d.classify(silent("", 0)).GetOverflow())
	_, err := d.compactions.ClassifyError(t.Context(), silent("nobody", 5))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}
