package service_test

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

func (w *checkedService) view() []*compactordv1.ViewMessage {
	return w.viewOf(&compactordv1.GetLLMViewRequest{})
}

func (w *checkedService) viewAt(point uint32) []*compactordv1.ViewMessage {
	return w.viewOf(&compactordv1.GetLLMViewRequest{AsOf: &point})
}

func (w *checkedService) viewOf(req *compactordv1.GetLLMViewRequest) []*compactordv1.ViewMessage {
	req.Target = &compactordv1.GetLLMViewRequest_SessionId{SessionId: checkedSession}
	req.MaxBytes = 64 << 20
	answer, err := w.service.GetLLMView(w.t.Context(), req)
	require.NoError(w.t, err)
	require.False(w.t, answer.GetHasMore())
	require.Equal(w.t, tokensOf(answer.GetMessages()), answer.GetViewReport().GetTokens())
	return answer.GetMessages()
}

// check compares the service with the naive model.
func (w *checkedService) check() {
	log := w.log()
	view := w.view()
	model := sessiontest.NewModel(log, log.Newest(), log.PolicyAt(log.Newest()))
	requireSameBytes(w.t, model.View(session.ViewOptions{}).Messages, view)
	w.checkCoverage(model, view)

	for _, a := range model.Messages {
		if a.Late {
			w.late[a.Sequence] = true
		}
	}
	changes := changesOf(log) + len(w.late) + movesOfBlocks(log)
	if changes == w.changes {
		// I8: no record has changed views since the last view.
		require.GreaterOrEqual(w.t, len(view), len(w.shown))
		requireSameBytes(w.t, w.shown, view[:len(w.shown)])
	}
	w.shown, w.changes = view, changes
	w.checkRendered(model, view, changes)
}

// changesOf counts the view-changing records of a log.
func changesOf(log *sessiontest.Log) int {
	changes := 0
	for _, item := range log.Items {
		if item.ChangesViews() {
			changes++
		}
	}
	return changes
}

// movesOfBlocks counts the messages that can move context blocks, or with which their last turn ends.
func movesOfBlocks(log *sessiontest.Log) int {
	moves := 0
	for sequence := range log.Items {
		if log.CanMoveBlocks(uint32(sequence)) {
			moves++
		}
	}
	return moves
}

// checkCoverage checks I1: each active message is shown, was given to a summarizer for the summary in the view, was folded
// into a text in the view or collapsed with its group, is left out by a repair or replaced by instructions, or had only
// thinking that an edit removed.
func (w *checkedService) checkCoverage(model *sessiontest.Model, view []*compactordv1.ViewMessage) {
	accounted := make(map[uint32]bool)
	for _, vm := range view {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			accounted[o.Index] = true
		case *compactordv1.ViewMessage_LogRepair:
			accounted[o.LogRepair.GetIndex()] = true
		case *compactordv1.ViewMessage_Folded:
			for index := o.Folded.GetStart(); index < o.Folded.GetEnd(); index++ {
				accounted[index] = true
			}
		}
	}
	if model.Entry != nil {
		for entry := w.entry(model.Entry.GetId()); entry != nil; entry = w.entry(entry.GetPreviousEntryId()) {
			for _, index := range w.received[entry.GetId()] {
				accounted[index] = true
			}
		}
	}
	for _, a := range model.Messages {
		require.True(w.t, accounted[a.Index] || a.LeftOut() || model.Collapsed(a) || model.Replaced(a) || thoughtOnly(model, a), "message %d is lost", a.Index)
	}
}

// thoughtOnly says whether a message had only thinking, and edits removed it.
func thoughtOnly(model *sessiontest.Model, a *sessiontest.Active) bool {
	for _, p := range a.Message.GetParts() {
		if p.GetThinking() == nil {
			return false
		}
	}
	return model.Emptied(a)
}

func tokensOf(view []*compactordv1.ViewMessage) uint32 {
	var tokens uint32
	for _, vm := range view {
		tokens += vm.GetTokens()
	}
	return tokens
}

func bytesOf(view []*compactordv1.ViewMessage) int {
	bytes := 0
	for _, vm := range view {
		bytes += proto.Size(vm.GetMessage())
	}
	return bytes
}

func requireSameBytes(t require.TestingT, want, got []*compactordv1.ViewMessage) {
	require.Len(t, got, len(want))
	for i := range want {
		if !slices.Equal(sessiontest.Bytes(want[i]), sessiontest.Bytes(got[i])) {
			require.Fail(t, fmt.Sprintf("message %d of the view differs", i), "want %v\ngot  %v", want[i], got[i])
		}
	}
}
