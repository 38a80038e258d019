package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

// rungs returns a policy whose strategy is a ladder.
func rungs(list ...*compactordv1.Strategy) *compactordv1.Policy {
	ladder := &compactordv1.LadderStrategy{}
	for _, s := range list {
		ladder.Rungs = append(ladder.Rungs, &compactordv1.LadderStrategy_Rung{Strategy: s})
	}
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(20_000),
		Strategy:      &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: ladder}},
	}
}

// hideAndCut returns a policy that hides the results of all but the newest group, and then keeps the newest turns.
func hideAndCut(turns uint32) *compactordv1.Policy {
	return rungs(hideAllBut(1).GetPruneStrategy(), keepTurns(turns).GetStrategy())
}

// writes returns a summarizer that always writes the same text.
func writes(text string) *scripted {
	return &scripted{name: "writer", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return &summarizers.Summary{Text: text, Calls: 1}, nil
	}}
}

// Edits of kept messages and the cut are one transaction with two records. The figures of the second begin where those
// of the first end.
func TestEditsAndCutAreWrittenTogether(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", hideAndCut(3))
	d.append("s", working(6, 3000)...)
	before := tokensOf(d.view("s"))
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	done := last(t, events).GetCompleted()
	prune, entry := done.GetPrune(), done.GetCompaction()
	require.NotNil(t, prune)
	require.NotNil(t, entry)
	require.True(t, prune.GetWithCut())
	require.Equal(t, prune.GetSequence()+1, entry.GetSequence())
	require.Equal(t, prune.GetProvenance().GetOperationId(), entry.GetProvenance().GetOperationId())
	require.Equal(t, before, prune.GetTokensBefore())
	require.Equal(t, prune.GetTokensAfter(), entry.GetTokensBefore())
	require.Equal(t, tokensOf(d.view("s")), entry.GetTokensAfter())
	require.Less(t, entry.GetTokensAfter(), entry.GetTokensBefore())
	require.Less(t, prune.GetTokensAfter(), prune.GetTokensBefore())
	require.Len(t, prune.GetEdits(), 2, "of three groups that are kept the newest stays whole")
	for _, e := range prune.GetEdits() {
		require.GreaterOrEqual(t, e.GetIndex(), entry.GetFirstKeptIndex())
	}
	d.requireChecked()
}

// Where no summary is smaller than what it would replace, only the edits are made, including those of messages that the
// cut would have covered.
func TestEditsAloneWhereNoSummaryIsSmaller(t *testing.T) {
	t.Parallel()
	for name, writer := range map[string]*scripted{
		"found by its checks": writes("## Goal\n" + long(5000)),
		// The summary passes the checks, but the view with the words around it is too large.
		"found at the commit": {name: "writer", do: func(
			_ context.Context, req *summarizers.Request, _ summarizers.Progress,
		) (*summarizers.Summary, error) {
			return &summarizers.Summary{Text: strings.Repeat("x", 4*int(req.MaxTokens)), Calls: 1}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t, withSummarizer(writer))
			policy := by("writer", fallingBack, hideAndCut(2))
			summarize := policy.GetStrategy().GetLadder().GetRungs()[1].GetStrategy().GetSummarize()
			summarize.MaxSummaryTokens = proto.Uint32(64)
			d.create("s", policy)
			messages := []*compactordv1.Message{user("u1"), assistant("", call("a", "read", "{}")), toolResult("a", long(60))}
			d.append("s", append(messages, working(2, 2000)[1:]...)...)
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			requireGrammar(t, events)
			started := events[0].GetStarted().GetPlan()
			require.NotNil(t, started.GetCut())
			require.Len(t, started.GetEdits(), 1)
			done := last(t, events).GetCompleted()
			require.NotNil(t, done, "%v", last(t, events))
			require.Nil(t, done.GetCompaction())
			require.False(t, done.GetPrune().GetWithCut())
			require.Len(t, done.GetPrune().GetEdits(), 2)
			require.Equal(t, uint32(2), done.GetPrune().GetEdits()[0].GetIndex())
			require.Equal(t, tokensOf(d.view("s")), done.GetPrune().GetTokensAfter())
			d.requireChecked()
		})
	}
}

// Where others have made the edits meanwhile, only the cut is made.
func TestCutAloneWhereOthersMadeTheEdits(t *testing.T) {
	t.Parallel()
	var d *daemon
	hide := func() { require.NotNil(t, d.prune(hideAllBut(1))) }
	d = start(t, withHooks(service.Hooks{BeforeCommit: func(context.Context) { hide() }}))
	d.create("s", hideAndCut(3))
	d.append("s", working(9, 3000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Len(t, events[0].GetStarted().GetPlan().GetEdits(), 2)
	done := last(t, events).GetCompleted()
	require.Nil(t, done.GetPrune())
	require.NotNil(t, done.GetCompaction())
	require.Equal(t, tokensOf(d.view("s")), done.GetCompaction().GetTokensAfter())
	d.requireChecked()
}

// A failed summary fails the whole compaction: only the attempt is written.
func TestFailedSummaryWritesNoEdits(t *testing.T) {
	t.Parallel()
	writer := neverWriting()
	d := start(t, withSummarizer(writer))
	d.create("s", by("broken", noFallback, hideAndCut(3)))
	d.append("s", working(6, 3000)...)
	before := d.view("s")
	events, err := d.compact(compactRequest("s", nil))
	requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
	require.NotNil(t, last(t, events).GetFailed())
	requireSameView(t, before, d.view("s"))
	require.Len(t, d.attempts(), 1)
	for _, r := range d.records("s") {
		require.Nil(t, r.GetPrune())
	}
}

// Where tool groups or bytes made compaction due, edits alone can be enough.
func TestEditsAloneWhereDueByGroupsOrBytes(t *testing.T) {
	t.Parallel()
	for name, trigger := range map[string]*compactordv1.Trigger{
		"groups": {TriggerToolGroups: proto.Uint32(6), Enabled: proto.Bool(true)},
		"bytes":  {MaxViewBytes: proto.Uint32(10_000), Enabled: proto.Bool(true)},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			policy := hideAllBut(1)
			policy.Strategy, policy.Trigger = policy.GetPruneStrategy(), trigger
			d.create("s", policy)
			d.append("s", working(6, 3000)...)
			require.True(t, d.report("s").GetShouldCompact())
			events, err := d.compactFor(threshold, nil)
			require.NoError(t, err)
			done := last(t, events).GetCompleted()
			require.Len(t, done.GetPrune().GetEdits(), 5)
			require.Nil(t, done.GetCompaction())
			require.False(t, done.GetReport().GetShouldCompact())
			require.Equal(t, name == "groups", len(done.GetReport().GetBlockedBy()) > 0, "a hidden result is a group still")
		})
	}
}
