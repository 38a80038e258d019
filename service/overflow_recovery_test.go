package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

const overflowText = "prompt is too long: 210000 tokens > 200000 maximum"

// Seed case 154: only the agent knows whether the error came from the model that is selected now. ClassifyError
// classifies the error alone, and neither it nor a session remembers it.
func TestCase154ErrorOfAnotherModelIsTheAgentsToDrop(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	d.append("s", overflown(user("u2"))...)
	d.requireUnchanged(t, func() {
		answer := d.classify(&compactordv1.ClassifyErrorRequest{ErrorText: overflowText, HttpStatus: 400, SessionId: "s"})
		require.True(t, answer.GetOverflow())
	})
	require.Nil(t, (&compactordv1.ClassifyErrorRequest{}).ProtoReflect().Descriptor().Fields().ByName("model"))
	require.False(t, d.report("s").GetShouldCompact(), "nothing is due because of it")
}

// Seed case 155: an error from before the latest compaction is the agent's to ignore. If it compacts anyway, there is
// nothing to do and nothing is paid for.
func TestCase155ErrorFromBeforeTheCompaction(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 0, overflown(user("u2"))...)
	d.afterOverflow(nil, splitting(1))
	view, asked := d.view("s"), len(writer.seen())
	events, err := d.compact(overflowing(nil, splitting(1)))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED, last(t, events).GetSkipped().GetReason())
	requireSameView(t, view, d.view("s"))
	require.Len(t, writer.seen(), asked)
}

// Seed case 156: the refused answer stays in the log but is in no view, and after the compaction the turn can be
// repeated. If it overflows again, there is nothing left to compact, which tells the agent to give up.
func TestCase156RefusedAnswerLeavesTheViewAndTheTurnIsRepeated(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	messages := overflown(user("u2"))
	before := d.append("s", messages[:5]...)
	require.Equal(t, uint32(5), before.GetNextIndex())
	view := d.view("s")
	d.append("s", messages[5])
	requireSameView(t, view, d.view("s"))
	require.Equal(t, overflowText, d.messages("s")[5].GetMessage().GetErrorText())

	done := d.afterOverflow(nil, nil)
	require.Less(t, done.GetCompaction().GetTokensAfter(), done.GetCompaction().GetTokensBefore())
	d.append("s", refused())
	events, err := d.compact(overflowing(nil, nil))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, last(t, events).GetSkipped().GetReason())
}

// Seed case 157: the agent counts how often it repeats a turn. compactord never blocks an overflow compaction, not even
// after three failed compactions in a row, where a threshold compaction has to wait.
func TestCase157OverflowsAreNeverHeldUp(t *testing.T) {
	t.Parallel()
	d, _ := opened(t)
	requireOpen(t, d)
	_, err := d.compactFor(threshold, nil)
	requireReason(t, err, codes.FailedPrecondition, "BREAKER_OPEN")
	for range 3 {
		_, err = d.compactFor(tooLong, nil)
		requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
	}
	events, err := d.compactFor(tooLong, &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{
		Summarizer: proto.String("extractive"),
	}})
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted().GetCompaction())
	requireClosed(t, d)
}

// Seed case 158: an overflow has its own class, so that an agent that waits out rate limits does not repeat it
// unchanged.
func TestCase158OverflowIsNoErrorToRetry(t *testing.T) {
	t.Parallel()
	d := start(t)
	classes := make(map[compactordv1.ErrorClass]bool)
	for text, class := range map[string]compactordv1.ErrorClass{
		overflowText:                             compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW,
		"Rate limit reached, try again in 20 s.": compactordv1.ErrorClass_ERROR_CLASS_RATE_LIMIT,
		"Overloaded":                             compactordv1.ErrorClass_ERROR_CLASS_OTHER,
	} {
		answer := d.classify(&compactordv1.ClassifyErrorRequest{ErrorText: text})
		require.Equal(t, class, answer.GetErrorClass(), text)
		require.Equal(t, class == compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW, answer.GetOverflow())
		classes[class] = true
	}
	require.Len(t, classes, 3)
}

// Seed case 162: without a request there is nothing to replay, and that is no error.
func TestCase162NothingToReplayIsNoError(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(1))
	events, err := d.compact(overflowing(proto.Bool(true), nil))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, last(t, events).GetSkipped().GetReason())
	d.append("s", assistant("I look. "+long(800)), assistant("I see."), refused())
	require.Nil(t, d.afterOverflow(proto.Bool(true), nil).GetCompaction().ReplayedIndex)
}

// Seed case 163: a failed compaction ends the recovery, with one failed event and the same status, and nothing has
// changed.
func TestCase163FailingCompactionEndsTheRecovery(t *testing.T) {
	t.Parallel()
	d := start(t, withSummarizer(neverWriting()))
	d.create("s", by("broken", noFallback, keepMessages(1)))
	d.append("s", overflown(asking("u2", named("a.png")))...)
	before, logged, records := d.view("s"), d.messages("s"), d.records("s")
	events, err := d.compact(overflowing(proto.Bool(true), nil))
	requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
	requireGrammar(t, events)
	require.Equal(t, int32(codes.Unavailable), last(t, events).GetFailed().GetStatusCode())
	requireSameView(t, before, d.view("s"))
	require.Len(t, d.messages("s"), len(logged))
	require.Len(t, d.records("s"), len(records)+1)
	require.Len(t, d.attempts(), 1)
	require.Equal(t, tooLong, d.attempts()[0].GetProvenance().GetReason())
}

// Seed case 164: a failed threshold compaction blocks nothing. The agent appends and gets views as before, and after
// the third the report asks for no more. A compaction that finds nothing to do does not count.
func TestCase164FailingThresholdCompactionBlocksNothing(t *testing.T) {
	t.Parallel()
	d, _ := opened(t)
	require.Len(t, d.attempts(), 3)
	r := d.append("s", user("Go on.")).GetReport()
	require.False(t, r.GetShouldCompact())
	_, err := d.compactFor(threshold, nil)
	requireReason(t, err, codes.FailedPrecondition, "BREAKER_OPEN")
	require.Len(t, d.attempts(), 3, "the fourth is stopped")
	view := d.view("s")
	require.Equal(t, []string{"Go on."}, texts(view[len(view)-1]))

	d = start(t, withSummarizer(&scripted{name: "broken", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		require.Fail(t, "nobody is asked to summarize")
		return nil, nil
	}}))
	policy := hideAllBut(100)
	policy.Strategy, policy.Trigger = policy.GetPruneStrategy(), &compactordv1.Trigger{TriggerTokens: proto.Uint32(100)}
	d.create("s", policy)
	d.append("s", working(3, 2000)...)
	for range 5 {
		events, err := d.compactFor(threshold, nil)
		require.NoError(t, err)
		require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, last(t, events).GetSkipped().GetReason())
	}
	require.Empty(t, d.attempts())
	require.False(t, d.report("s").GetShouldCompact())
	require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE}, d.report("s").GetBlockedBy())
}
