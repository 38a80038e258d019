package session_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func reportOf(messages ...*compactordv1.Message) *compactordv1.ContextReport {
	return session.Measure(newLog(messages...).Head, &compactordv1.Policy{})
}

func total(tokens uint32) *compactordv1.Usage { return &compactordv1.Usage{TotalTokens: tokens} }

func TestCase012TotalWins(t *testing.T) {
	u := &compactordv1.Usage{
		TotalTokens: 1000, InputTokens: 400, OutputTokens: 100, CacheReadTokens: 400, CacheWriteTokens: 200,
	}
	require.Equal(t, uint32(1000), session.ReportedTokens(u))
}

func TestCase013Sum(t *testing.T) {
	u := &compactordv1.Usage{InputTokens: 1000, OutputTokens: 500, CacheReadTokens: 200, CacheWriteTokens: 100}
	require.Equal(t, uint32(1800), session.ReportedTokens(u))
}

func TestCase014AllZeroIsNone(t *testing.T) {
	r := reportOf(user("12345678"), used(says("1234"), &compactordv1.Usage{}))
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	require.Equal(t, uint32(3), r.GetTokens())
}

func TestCase015AbortedDoesNotReport(t *testing.T) {
	for _, why := range []compactordv1.StopReason{
		compactordv1.StopReason_STOP_REASON_ABORTED, compactordv1.StopReason_STOP_REASON_ERROR,
	} {
		r := reportOf(user("1234"), used(says("1234"), total(100)), stopped(used(says("1234"), total(300)), why))
		require.Equal(t, uint32(100), r.GetTokens())
		require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, r.GetSource())
	}
}

func TestCase016NoUsage(t *testing.T) {
	r := reportOf(user("12345678"), says("1234"))
	require.Equal(t, uint32(3), r.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
}

func TestCase017TrailingResult(t *testing.T) {
	r := reportOf(user("1234"), used(assistant(calling("a", "read", "")), total(1000)), answers("a", strings.Repeat("x", 41)))
	require.Equal(t, uint32(1011), r.GetTokens())
}

func TestCase018TrailingResultTriggers(t *testing.T) {
	w := newLog(user("1"), used(assistant(calling("a", "read", "")), total(840_000)))
	policy := &compactordv1.Policy{
		ContextWindow: proto.Uint32(1_000_000), Trigger: &compactordv1.Trigger{TriggerRatio: proto.Float64(0.85)},
	}
	require.False(t, session.Due(policy, session.Measure(w.Head, policy)))
	w.Append(answers("a", strings.Repeat("x", 60_000)), nil)
	r := session.Measure(w.Head, policy)
	require.Equal(t, uint32(855_000), r.GetTokens())
	require.True(t, session.Due(policy, r))
}

func TestCase019UsageClearsWhatIsPending(t *testing.T) {
	w := newLog(user(strings.Repeat("x", 400)), used(says("1234"), total(50)))
	require.Equal(t, uint32(50), session.Measure(w.Head, &compactordv1.Policy{}).GetTokens())
	w.Append(user("1234"), nil)
	require.Equal(t, uint32(51), session.Measure(w.Head, &compactordv1.Policy{}).GetTokens())
}

func TestCase020LastUsageCounts(t *testing.T) {
	r := reportOf(user("1"), used(says("1"), total(100)), user("1"), used(says("1"), total(200)), user("12345678"))
	require.Equal(t, uint32(202), r.GetTokens())
}

func TestCase021NoUsageAllPending(t *testing.T) {
	w := newLog(user("1"), says("1"), user("1"))
	r := session.Measure(w.Head, &compactordv1.Policy{})
	require.Equal(t, uint32(3), r.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	restored := session.Measure(w.StateAt(w.Log.Newest()).WithMetrics(), &compactordv1.Policy{})
	require.Equal(t, uint32(3), restored.GetTokens())
}

// A usage report from before the latest compaction does not count, even while its message is kept.
func TestCase024UsageOlderThanCompaction(t *testing.T) {
	w := newLog(user("1"), says("1"), user("1"), used(says("1234"), total(900)))
	require.True(t, session.Due(windowed(), session.Measure(w.Head, windowed())))
	compact(w, 2, "s")
	require.Equal(t, []string{`user 2: "1"`, `assistant 3: "1234"`}, viewLines(w)[1:], "its message is kept")
	r := session.Measure(w.Head, windowed())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	require.Equal(t, w.Head.GetViewTokens(), r.GetTokens())
	require.False(t, session.Due(windowed(), r))
}

// A report from before a return to an earlier point does not count, nor one of a message made from an older view.
func TestCase027UsageOfAnotherHistory(t *testing.T) {
	w := newLog(user("1"), used(says("1"), total(900)), user("1"))
	revert(w, 2)
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, session.Measure(w.Head, &compactordv1.Policy{}).GetSource())
	w.Append(user("1"), nil)
	w.Append(used(says("1"), total(40)), nil)
	r := session.Measure(w.Head, &compactordv1.Policy{})
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, r.GetSource(), "until the next answer")
	require.Equal(t, uint32(40), r.GetTokens())

	w = newLog(user("1"), says("1"), user("1"))
	made := session.Point(w.Head)
	compact(w, 1, "s")
	w.Append(used(says("1"), total(900)), &made)
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, session.Measure(w.Head, &compactordv1.Policy{}).GetSource())
}

// windowed is a policy with a trigger at 750 tokens.
func windowed() *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000), Trigger: &compactordv1.Trigger{TriggerRatio: proto.Float64(0.75)},
	}
}

// Directly after a compaction the tokens are estimated, and their source says so; the next answer brings the provider's
// figure.
func TestCase023AfterACompaction(t *testing.T) {
	w := newLog(user("1"), used(says("1"), total(900)), user("12345678"))
	r := session.Measure(w.Head, windowed())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, r.GetSource())
	require.True(t, session.Due(windowed(), r))
	compact(w, 2, "s")
	r = session.Measure(w.Head, windowed())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	require.Equal(t, w.State().View(session.ViewOptions{}).Tokens, r.GetTokens())
	require.False(t, session.Due(windowed(), r))
	w.Append(used(says("1"), total(40)), nil)
	r = session.Measure(w.Head, windowed())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, r.GetSource())
	require.Equal(t, uint32(40), r.GetTokens())
}

// A failed answer reports nothing: the report before it still counts, and triggers.
func TestCase025FailedAnswerAfterAGoodOne(t *testing.T) {
	failed := stopped(says("1234"), compactordv1.StopReason_STOP_REASON_ERROR)
	w := newLog(user("1"), used(says("1"), total(800)), user("1234"), failed)
	r := session.Measure(w.Head, windowed())
	require.Equal(t, uint32(801), r.GetTokens(), "what is left out of views counts nothing")
	require.True(t, session.Due(windowed(), r))
}

// Without an earlier report nothing triggers, whatever the failed answer reports.
func TestCase026FailedAnswerAlone(t *testing.T) {
	failed := stopped(used(says("1234"), total(900)), compactordv1.StopReason_STOP_REASON_ERROR)
	r := session.Measure(newLog(user("1234"), failed).Head, windowed())
	require.Equal(t, uint32(1), r.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	require.False(t, session.Due(windowed(), r))
}

// A report includes its answer, which is not added again; messages after the answer are.
func TestCase028TheAnswerIsInItsReport(t *testing.T) {
	w := newLog(user("1"), used(says(strings.Repeat("x", 400)), total(150)))
	require.Equal(t, uint32(150), session.Measure(w.Head, windowed()).GetTokens())
	w.Append(user(strings.Repeat("x", 40)), nil)
	require.Equal(t, uint32(160), session.Measure(w.Head, windowed()).GetTokens())
}

// A total is never less than the sum of what it counts, also where only one of the two usages has one.
func TestAddUsage(t *testing.T) {
	parts := &compactordv1.Usage{InputTokens: 100, OutputTokens: 10, CacheReadTokens: 5, CacheWriteTokens: 1}
	total := &compactordv1.Usage{InputTokens: 40, OutputTokens: 2, TotalTokens: 45}
	sum := &compactordv1.Usage{InputTokens: 140, OutputTokens: 12, CacheReadTokens: 5, CacheWriteTokens: 1, TotalTokens: 161}
	for name, c := range map[string]struct{ a, b, want *compactordv1.Usage }{
		"nothing told":     {nil, nil, nil},
		"the first alone":  {parts, nil, parts},
		"the second alone": {nil, total, total},
		"the total last":   {parts, total, sum},
		"the total first":  {total, parts, sum},
		"no totals": {parts, parts, &compactordv1.Usage{
			InputTokens: 200, OutputTokens: 20, CacheReadTokens: 10, CacheWriteTokens: 2,
		}},
		"totals": {total, total, &compactordv1.Usage{InputTokens: 80, OutputTokens: 4, TotalTokens: 90}},
		"too much": {
			&compactordv1.Usage{InputTokens: math.MaxUint32, TotalTokens: math.MaxUint32}, parts,
			&compactordv1.Usage{
				InputTokens: math.MaxUint32, OutputTokens: 10, CacheReadTokens: 5, CacheWriteTokens: 1, TotalTokens: math.MaxUint32,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, proto.Equal(c.want, session.AddUsage(c.a, c.b)), "%v", session.AddUsage(c.a, c.b))
		})
	}
}
