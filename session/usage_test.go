package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// windowed is a policy with a trigger at 750 tokens.
func windowed() *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(1000), Trigger: &compactordv1.Trigger{TriggerRatio: proto.Float64(0.75)},
	}
}

// Right after a compaction the tokens are estimated, and said to be; the next answer brings the provider's figure.
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

// A failed answer reports nothing: the report before it stands, and triggers.
func TestCase025FailedAnswerAfterAGoodOne(t *testing.T) {
	failed := stopped(says("1234"), compactordv1.StopReason_STOP_REASON_ERROR)
	w := newLog(user("1"), used(says("1"), total(800)), user("1234"), failed)
	r := session.Measure(w.Head, windowed())
	require.Equal(t, uint32(801), r.GetTokens(), "what is left out of views counts nothing")
	require.True(t, session.Due(windowed(), r))
}

// Without a report before it nothing triggers, whatever the failed answer says.
func TestCase026FailedAnswerAlone(t *testing.T) {
	failed := stopped(used(says("1234"), total(900)), compactordv1.StopReason_STOP_REASON_ERROR)
	r := session.Measure(newLog(user("1234"), failed).Head, windowed())
	require.Equal(t, uint32(1), r.GetTokens())
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, r.GetSource())
	require.False(t, session.Due(windowed(), r))
}

// The answer that brought a report is in it, and is not added again; what comes after it is.
func TestCase028TheAnswerIsInItsReport(t *testing.T) {
	w := newLog(user("1"), used(says(strings.Repeat("x", 400)), total(150)))
	require.Equal(t, uint32(150), session.Measure(w.Head, windowed()).GetTokens())
	w.Append(user(strings.Repeat("x", 40)), nil)
	require.Equal(t, uint32(160), session.Measure(w.Head, windowed()).GetTokens())
}
