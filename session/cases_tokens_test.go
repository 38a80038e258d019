package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func tokensOf(t *testing.T, m *compactordv1.Message) uint32 {
	t.Helper()
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	return session.MessageTokens(counter, m)
}

func TestCase001EmptyText(t *testing.T) {
	require.Zero(t, tokensOf(t, user("")))
	require.Zero(t, tokensOf(t, message(compactordv1.Role_ROLE_USER)))
}

func TestCase002RoundedUp(t *testing.T) {
	for chars, want := range map[int]uint32{1: 1, 4: 1, 5: 2, 8: 2, 9: 3} {
		require.Equal(t, want, tokensOf(t, user(strings.Repeat("x", chars))), "%d characters", chars)
	}
	require.Equal(t, uint32(1), tokensOf(t, message(compactordv1.Role_ROLE_USER, session.TextPart("xx"), session.TextPart("yy"))),
		"rounded up once a message")
}

func TestCase003CJK(t *testing.T) { require.Equal(t, uint32(1), tokensOf(t, user("修复代码"))) }

func TestCase004AstralPlane(t *testing.T) {
	require.Equal(t, uint32(1), tokensOf(t, user("🙂🙂")))
	require.Equal(t, uint32(2), tokensOf(t, user("🙂🙂x")), "four UTF-16 units and one")
}

// An image counts 1,200 wherever it is.
func TestCase005Images(t *testing.T) {
	require.Equal(t, uint32(1201), tokensOf(t, message(compactordv1.Role_ROLE_USER, session.TextPart("abcd"), pictured("a"))))
	require.Equal(t, uint32(1201), tokensOf(t, answering("a", resultText("abcd"), resultPicture("a"))))
	require.Equal(t, uint32(1200), tokensOf(t, answering("a", resultPicture("a"))))
}

func TestCase006TextThinkingAndCall(t *testing.T) {
	m := assistant(thinking("hm"), session.TextPart("ok"), calling("some-id", "read", `{"path":"a"}`))
	require.Equal(t, uint32(5), tokensOf(t, m))
}

func TestCase007CallWithoutArguments(t *testing.T) {
	require.Equal(t, uint32(2), tokensOf(t, assistant(calling("a", "read", ""))), "six units: name and {}")
	require.Equal(t, tokensOf(t, assistant(calling("a", "read", "{}"))), tokensOf(t, assistant(calling("a", "read", ""))))
	require.Equal(t, uint32(2), tokensOf(t, assistant(calling("a", "reads", ""))), "seven units")
}

// What mending leaves out of the view has its estimate all the same.
func TestCase008LeftOutStillHasAnEstimate(t *testing.T) {
	w := newLog(user("1234"), stopped(says("12345678"), compactordv1.StopReason_STOP_REASON_ABORTED))
	require.Equal(t, uint32(2), w.Messages[1].GetTokens())
	require.Equal(t, uint32(1), w.Head.GetViewTokens())
}

// Live and restored state count alike.
func TestCase009LiveAndRestored(t *testing.T) {
	w := newLog(user("123"), user("123"), user("123"), user("123"))
	require.Equal(t, uint32(4), w.Head.GetViewTokens())
	require.Equal(t, uint32(4), w.State().WithMetrics().GetViewTokens())
}

func TestCase011OnlyMedia(t *testing.T) {
	w := newLog(message(compactordv1.Role_ROLE_USER, pictured("a")))
	require.Equal(t, uint32(1200), w.Head.GetViewTokens())
}

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

// A usage older than the latest compaction does not count, even while its message is kept.
func TestCase024UsageOlderThanCompaction(t *testing.T) {
	w := newLog(user("1"), says("1"), user("1"), used(says("1234"), total(900)))
	require.True(t, session.Due(windowed(), session.Measure(w.Head, windowed())))
	compact(w, 2, "s")
	require.Equal(t, []string{`user 2: "1"`, `assistant 3: "1234"`}, drawn(w)[1:], "its message is kept")
	r := session.Measure(w.Head, windowed())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	require.Equal(t, w.Head.GetViewTokens(), r.GetTokens())
	require.False(t, session.Due(windowed(), r))
}

// Nor does one from before a return to an earlier point; nor that of a message made from an older view.
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
