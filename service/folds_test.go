package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// foldOf returns the range from start to end (exclusive), with a text.
func foldOf(start, end uint32, text string) *compactordv1.FoldRange {
	return &compactordv1.FoldRange{From: &compactordv1.FoldRange_Start{Start: start}, End: &end, Text: text}
}

func foldRequest(fold *compactordv1.FoldRange) *compactordv1.CompactRequest {
	req := compactRequest("s", nil)
	req.Fold = fold
	return req
}

// fold folds a range of session s, and returns its record.
func (d *daemon) fold(fold *compactordv1.FoldRange) *compactordv1.PruneEntry {
	d.t.Helper()
	events, err := d.compact(foldRequest(fold))
	require.NoError(d.t, err)
	require.NotNil(d.t, last(d.t, events).GetCompleted(), "%v", last(d.t, events))
	return last(d.t, events).GetCompleted().GetPrune()
}

// A fold is shown where its messages stood, they can be recalled, and an undo brings them back.
func TestFoldStandsWhereItsMessagesStood(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(3, 900)...)
	before := d.view("s")
	entry := d.fold(foldOf(5, 9, " Module 1 is fine. \n"))
	require.Len(t, entry.GetEdits(), 4)
	require.Nil(t, entry.GetProvenance().GetStrategy(), "nobody's strategy folded")

	view := d.view("s")
	require.Len(t, view, len(before)-3)
	folded := view[5]
	require.True(t, proto.Equal(&compactordv1.IndexRange{Start: 5, End: 9}, folded.GetFolded()))
	require.Equal(t, []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_FOLD}, folded.GetEdits())
	require.Equal(t, compactordv1.Role_ROLE_USER, folded.GetMessage().GetRole())
	line, text, _ := strings.Cut(textOf(folded.GetMessage()), "\n")
	require.Contains(t, line, "Messages 5 to 8 are folded into this text.")
	require.Equal(t, "Module 1 is fine.", text)
	requireSameView(t, before[9:], view[6:])
	require.Equal(t, tokensOf(view), entry.GetTokensAfter())
	require.Equal(t, strings.Repeat("line of module 1\n", 51), d.recall(recallOf(7)).GetText())

	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
	})
	require.NoError(t, err)
	requireSameView(t, before, d.view("s"))
}

// What an agent did since a checkpoint is shown as its result, also while the call that asks for it is open.
func TestFoldSinceACheckpoint(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", user("go"), assistant("first", call("a", "read", "{}")), toolResult("a", long(300)))
	checkpoint := d.checkpoint("s", false).GetId()
	d.append("s", assistant("", call("b", "read", "{}")), toolResult("b", long(300)),
		assistant("", call("c", "read", "{}")), toolResult("c", long(300)), assistant("", call("fold", "fold_since", "{}")))
	entry := d.fold(&compactordv1.FoldRange{
		From: &compactordv1.FoldRange_CheckpointId{CheckpointId: checkpoint}, Text: "b and c are read.",
	})
	require.Equal(t, uint32(3), entry.GetEdits()[0].GetFoldStart())
	require.Equal(t, uint32(7), entry.GetEdits()[0].GetFoldEnd())
	d.append("s", toolResult("fold", "folded"))
	view := d.view("s")
	require.Len(t, view, 6)
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, view[3].GetMessage().GetRole())
	require.Contains(t, textOf(view[3].GetMessage()), "b and c are read.")
	require.Equal(t, uint32(7), view[4].GetIndex())

	_, err := d.compact(foldRequest(&compactordv1.FoldRange{From: &compactordv1.FoldRange_CheckpointId{CheckpointId: 7}}))
	requireReason(t, err, codes.NotFound, "CHECKPOINT_NOT_FOUND")
}

// A message that is pinned after it was folded is shown after the fold's text, with its group.
func TestPinOfAFoldedMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(2, 900)...)
	d.fold(foldOf(1, 5, "done"))
	folded := d.view("s")
	d.pin("s", 3)
	view := d.view("s")
	require.Len(t, view, len(folded)+2)
	require.Contains(t, textOf(view[1].GetMessage()), "done")
	require.Equal(t, uint32(2), view[2].GetIndex())
	require.Equal(t, uint32(3), view[3].GetIndex())
	d.unpin("s", 3)
	requireSameView(t, folded, d.view("s"))
}

func TestFoldsThatAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(3, 900)...)
	d.pin("s", 6)
	d.requireUnchanged(t, func() {
		_, err := d.compact(foldRequest(foldOf(5, 9, "x")))
		requireReason(t, err, codes.Aborted, "PLAN_INVALID")
		require.ErrorContains(t, err, "message 6 is pinned")
		_, err = d.compact(foldRequest(foldOf(2, 7, "x")))
		requireReason(t, err, codes.Aborted, "PLAN_INVALID")
		_, err = d.compact(foldRequest(foldOf(0, 5, "x")))
		require.ErrorContains(t, err, "a leading one")

		due := foldRequest(foldOf(1, 5, "x"))
		due.Reason = threshold
		_, err = d.compact(due)
		requireInvalid(t, err, "fold", "only with reason MANUAL")
		again := foldRequest(foldOf(1, 5, "x"))
		again.Replay = proto.Bool(true)
		_, err = d.compact(again)
		requireInvalid(t, err, "replay", "not allowed with fold")
		_, err = d.compact(foldRequest(foldOf(1, 5, " \n")))
		requireInvalid(t, err, "fold.text", "visible content")
		_, err = d.compact(foldRequest(&compactordv1.FoldRange{Text: "x"}))
		require.Equal(t, codes.InvalidArgument, statusCode(err))
		_, err = d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{
			SessionId: "s", Fold: foldOf(1, 5, "x"), ClientPlan: &compactordv1.ClientPlan{Strategy: "own", FirstKeptIndex: proto.Uint32(5)},
		})
		requireInvalid(t, err, "fold", "not allowed with client_plan")

		for _, nothing := range []*compactordv1.FoldRange{foldOf(3, 4, "x"), foldOf(1, 5, long(5000))} {
			events, err := d.compact(foldRequest(nothing))
			require.NoError(t, err)
			require.Contains(t, last(t, events).GetSkipped().GetMessage(), "fold")
		}
		dry := foldRequest(foldOf(1, 5, "x"))
		dry.DryRun = true
		events, err := d.compact(dry)
		require.NoError(t, err)
		require.Len(t, last(t, events).GetPlanned().GetEdits(), 4)
	})
}

// A fold that is asked for again with its request id is made once.
func TestFoldIsMadeOnce(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(2, 900)...)
	req := foldRequest(foldOf(1, 5, "done"))
	req.RequestId = "once"
	first, err := d.compact(req)
	require.NoError(t, err)
	again, err := d.compact(req)
	require.NoError(t, err)
	require.True(t, proto.Equal(last(t, first).GetCompleted(), last(t, again).GetCompleted()))
}

// A later compaction reads what was folded, and not the text of the fold.
func TestCompactionReadsWhatWasFolded(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 10, working(3, 900)...)
	d.fold(foldOf(1, 5, "a text that is in no message"))
	d.completed(nil)
	var read []string
	for _, l := range writer.seen()[0].Messages {
		read = append(read, textOf(l.GetMessage()))
	}
	require.Contains(t, strings.Join(read, "\n"), "look into module 0")
	require.NotContains(t, strings.Join(read, "\n"), "a text that is in no message")
}

// A history is folded like a session.
func TestFoldOfAnInlineHistory(t *testing.T) {
	t.Parallel()
	d := start(t)
	events, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{Messages: working(2, 900)}},
		Fold:   foldOf(1, 5, "done"),
	})
	require.NoError(t, err)
	require.Len(t, last(t, events).GetCompleted().GetPrune().GetEdits(), 4)
}

// A plan with a fold's text needs no prompt, and is committed as it was planned.
func TestPlannedFoldWithAText(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(2, 900)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Fold: foldOf(1, 5, "done")})
	require.Empty(t, plan.GetPrompts())
	d.append("s", user("meanwhile"))
	done := d.commitPlan(&compactordv1.CommitCompactionRequest{SessionId: "s", PlanToken: plan.GetPlanToken()})
	require.Len(t, done.GetPrune().GetEdits(), 4)
	require.Contains(t, textOf(d.view("s")[1].GetMessage()), "done")
}
