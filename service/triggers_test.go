package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// There is no fixed wait after a compaction: after one that helped, the next is due as soon as the context is full
// again.
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

// A disabled trigger does not affect manual compactions.
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

// kimi-code#2498: the overhead is above the trigger, so compacting never helps. The error has the figures.
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

// Tool groups and bytes make compaction due without a context window. Below them the skip has their figures.
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

// Content with many bytes and few tokens is compacted where bytes were the trigger.
func TestCompactsByBytesWhereBytesWereTheTrigger(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(5)
	policy.Trigger = &compactordv1.Trigger{MaxViewBytes: proto.Uint32(200_000)}
	d.create("s", policy)
	for range 8 {
		heavy := assistant("noted")
		heavy.GetParts()[0].Attachments = []*compactordv1.Attachment{{
			Dialect: compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, Key: "encrypted_content",
			Json: `"` + strings.Repeat("x", 50_000) + `"`,
		}}
		d.append("s", user("go on"), heavy)
	}
	req := compactRequest("s", nil)
	req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	events, err := d.compact(req)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted(), "%v", last(t, events))
	require.Less(t, last(t, events).GetCompleted().GetReport().GetViewBytes(), uint32(200_000))
	require.False(t, last(t, events).GetCompleted().GetReport().GetShouldCompact())
}
