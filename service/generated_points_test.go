package service_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// The reasons for refusing a revert.
const (
	noCheckpoint    = compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_NOT_FOUND
	checkpointAside = compactordv1.ErrorReason_ERROR_REASON_CHECKPOINT_PUT_ASIDE
	nothingToRevert = compactordv1.ErrorReason_ERROR_REASON_NOTHING_TO_REVERT
	callsOpen       = compactordv1.ErrorReason_ERROR_REASON_TOOL_CALLS_OPEN
)

// refused asserts that a call failed for this reason and wrote nothing.
func (w *checkedService) refused(err error, reason compactordv1.ErrorReason, before *compactordv1.Session) {
	e := &apierror.Error{}
	require.ErrorAs(w.t, err, &e)
	require.Equal(w.t, reason, e.Reason, e.Message)
	require.True(w.t, proto.Equal(before, w.row()))
	w.counts["refused: "+reason.String()]++
}

// modelAt returns the model of the log at a point.
func modelAt(log *sessiontest.Log, point uint32) *sessiontest.Model {
	return sessiontest.NewModel(log, point, log.PolicyAt(point))
}

func (w *checkedService) makeCheckpoint() {
	log, before := w.log(), w.row()
	announce := w.draw(0, 1, "announce") == 1
	answer, err := w.service.CreateCheckpoint(w.t.Context(), &compactordv1.CreateCheckpointRequest{
		SessionId: checkedSession, Announce: announce,
	})
	if announce && len(modelAt(log, log.Newest()).Awaited()) > 0 {
		w.refused(err, callsOpen, before)
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, before.GetLastCheckpoint()+1, answer.GetCheckpoint().GetId())
	require.Equal(w.t, answer.GetPoint(), answer.GetCheckpoint().GetPoint())
	require.Equal(w.t, announce, answer.GetCheckpoint().MarkerIndex != nil)
	w.counts[fmt.Sprintf("checkpoint, announced %v", announce)]++
}

// aim draws the target of a revert, and computes its point from the log, or the reason for refusing it.
func (w *checkedService) aim(
	log *sessiontest.Log, req *compactordv1.RevertToCheckpointRequest,
) (point uint32, refusal compactordv1.ErrorReason) {
	switch w.draw(0, 3, "target") {
	case 0:
		id := uint32(w.draw(0, int(w.row().GetLastCheckpoint())+1, "checkpoint"))
		if last := w.row().GetLastCheckpoint(); last > 0 && w.draw(0, 3, "newest") > 0 {
			id = last
		}
		req.Target = &compactordv1.RevertToCheckpointRequest_CheckpointId{CheckpointId: id}
		return checkpointIn(log, id)
	case 1:
		turns := w.draw(1, 4, "turns")
		req.Target = &compactordv1.RevertToCheckpointRequest_Turns{Turns: uint32(turns)}
		return beforeTurnsOf(log, turns)
	case 2:
		req.Target = &compactordv1.RevertToCheckpointRequest_Undo{Undo: true}
		return beforeLastChangeOf(log)
	default:
		point = uint32(w.draw(0, int(log.Newest()), "point"))
		req.Target = &compactordv1.RevertToCheckpointRequest_Point{Point: point}
		return point, 0
	}
}

func checkpointIn(log *sessiontest.Log, id uint32) (point uint32, refusal compactordv1.ErrorReason) {
	inForce := modelAt(log, log.Newest()).Records
	for sequence, item := range log.Items {
		if c := item.Record.GetCheckpoint(); c != nil && c.GetId() == id {
			if _, ok := inForce[uint32(sequence)]; !ok {
				return 0, checkpointAside
			}
			return c.GetPoint(), 0
		}
	}
	return 0, noCheckpoint
}

func beforeTurnsOf(log *sessiontest.Log, turns int) (point uint32, refusal compactordv1.ErrorReason) {
	for _, a := range slices.Backward(modelAt(log, log.Newest()).Messages) {
		if session.StartsTurn(a.Message) {
			if turns--; turns == 0 {
				return a.Sequence - 1, 0
			}
		}
	}
	return 0, nothingToRevert
}

func beforeLastChangeOf(log *sessiontest.Log) (point uint32, refusal compactordv1.ErrorReason) {
	for sequence, item := range slices.Backward(log.Items) {
		if item.ChangesViews() && item.Record.GetPolicyChange() == nil &&
			item.Record.GetPrune().GetProvenance().GetReason() != compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE {
			return uint32(sequence - 1), 0
		}
	}
	return 0, nothingToRevert
}

// revertSomehow reverts to a drawn target, with a message, with a summary, or with neither.
func (w *checkedService) revertSomehow() {
	req := &compactordv1.RevertToCheckpointRequest{SessionId: checkedSession}
	log, before := w.log(), w.row()
	point, refusal := w.aim(log, req)
	switch w.draw(0, 3, "tell") {
	case 0:
		req.MessageFromFuture = "do it otherwise"
	case 1:
		req.Summarize = true
	default:
	}
	w.recorder.requests = nil
	answer, err := w.service.RevertToCheckpoint(w.t.Context(), req)
	if refusal != 0 {
		w.refused(err, refusal, before)
		return
	}
	require.NoError(w.t, err)
	w.counts[fmt.Sprintf("revert by %T", req.GetTarget())]++

	aside := putAside(modelAt(log, log.Newest()), modelAt(log, point))
	require.Equal(w.t, uint32(len(aside)), answer.GetMessagesPutAside())
	require.Equal(w.t, firstRequest(aside), answer.FirstRequestPutAside)
	told := req.GetMessageFromFuture() != "" || req.GetSummarize() && len(aside) > 0
	if !told && point == log.Newest() {
		require.Nil(w.t, answer.GetRecord(), "nothing is to be reverted")
		require.True(w.t, proto.Equal(before, w.row()), "and nothing is written")
		w.counts["revert to the newest point"]++
		return
	}
	require.Equal(w.t, told, answer.GetRecord().GetRevert().FutureIndex != nil)
	view := w.view()
	if told {
		w.counts["message of origin FUTURE"]++
		require.Equal(w.t, before.GetNextIndex(), answer.GetRecord().GetRevert().GetFutureIndex())
		require.Equal(w.t, compactordv1.Origin_ORIGIN_FUTURE, view[len(view)-1].GetMessage().GetOrigin())
	}
	// The message closes calls that were open at the point, so its messages come after the view of the point.
	want := w.viewAt(point)
	requireSameBytes(w.t, want, view[:min(len(want), len(view))])
	if !told {
		require.Len(w.t, view, len(want))
	}
	if req.GetSummarize() {
		w.checkSummarized(aside)
	}
}

// checkSummarized asserts that the summarizer got exactly the messages that were put aside.
func (w *checkedService) checkSummarized(aside []*sessiontest.Active) {
	var want []uint32
	for _, a := range aside {
		want = append(want, a.Index)
	}
	require.Equal(w.t, want, received(w.recorder))
	w.counts["revert with a summary"]++
}

func putAside(before, after *sessiontest.Model) []*sessiontest.Active {
	var aside []*sessiontest.Active
	for _, a := range before.Messages {
		if after.Find(a.Index) == nil {
			aside = append(aside, a)
		}
	}
	return aside
}

func firstRequest(aside []*sessiontest.Active) *uint32 {
	for _, a := range aside {
		if session.StartsTurn(a.Message) {
			return &a.Index
		}
	}
	return nil
}

func (w *checkedService) clearAll() {
	log, before, shown := w.log(), w.row(), w.view()
	m := modelAt(log, log.Newest())
	answer, err := w.service.ClearSession(w.t.Context(), &compactordv1.ClearSessionRequest{SessionId: checkedSession})
	require.NoError(w.t, err)
	require.Equal(w.t, uint32(len(m.Messages)-len(m.Lead())), answer.GetMessagesPutAside())
	requireSameBytes(w.t, shown[:len(m.Lead())], w.view())
	if answer.GetRecord() == nil {
		require.True(w.t, proto.Equal(before, w.row()))
		w.counts["clear of what is clear"]++
		return
	}
	w.counts["clear"]++
}

// fork forks at a point, and compares the fork with the model of that point.
func (w *checkedService) fork() {
	log := w.log()
	point := uint32(w.draw(0, int(log.Newest()), "fork at"))
	answer, err := w.service.ForkSession(w.t.Context(), &compactordv1.ForkSessionRequest{
		SessionId: checkedSession, At: &compactordv1.ForkSessionRequest_Point{Point: point},
	})
	require.NoError(w.t, err)
	view, err := w.service.GetLLMView(w.t.Context(), &compactordv1.GetLLMViewRequest{
		Target:   &compactordv1.GetLLMViewRequest_SessionId{SessionId: answer.GetSession().GetSessionId()},
		MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	m := modelAt(log, point)
	requireSameBytes(w.t, m.View(session.ViewOptions{}).Messages, view.GetMessages())
	require.Equal(w.t, uint32(len(m.Messages)), answer.GetSession().GetActiveMessages())
	require.Equal(w.t, tokensOf(view.GetMessages()), view.GetViewReport().GetTokens())
	w.counts["fork"]++
}

// The invariants hold however often a conversation is reverted, cleared and forked, to any target, with compactions,
// prunes and pins in any order.
func TestInvariantsOverPoints(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		w.policy()
		for range between(t, 20, 100, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 52:
				w.message(t)
			case n < 60:
				w.compact(func() { w.message(t) })
			case n < 65:
				w.prune()
			case n < 69:
				w.pin()
			case n < 78:
				w.makeCheckpoint()
			case n < 91:
				w.revertSomehow()
			case n < 93:
				w.clearAll()
				if w.draw(0, 1, "again") == 1 {
					w.clearAll()
				}
			case n < 97:
				w.fork()
			default:
				w.policy()
			}
			w.check()
		}
		problems, err := sessionlog.Check(t.Context(), w.store, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
	t.Log(describe(counts))
	if !fullRun() {
		return
	}
	for _, class := range []string{
		"checkpoint, announced true", "checkpoint, announced false", "fork", "clear", "clear of what is clear", "pin",
		"message of origin FUTURE", "revert with a summary",
		"revert by *compactordv1.RevertToCheckpointRequest_CheckpointId",
		"revert by *compactordv1.RevertToCheckpointRequest_Turns",
		"revert by *compactordv1.RevertToCheckpointRequest_Undo",
		"refused: " + noCheckpoint.String(), "refused: " + checkpointAside.String(),
		"refused: " + nothingToRevert.String(), "refused: " + callsOpen.String(),
	} {
		require.GreaterOrEqual(t, counts[class], 5, "too rare to mean anything: %s", class)
	}
}
