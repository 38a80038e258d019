package service_test

import (
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// anyRecord does something to the session that can write a record.
func (w *checkedService) anyRecord() {
	if w.draw(0, 9, "beside messages") == 0 {
		w.besideMessages()
		return
	}
	switch n := w.draw(0, 99, "what"); {
	case n < 30:
		w.compact(func() {})
	case n < 50:
		w.prune()
	case n < 60:
		w.pin()
	case n < 68:
		w.unpin()
	case n < 78:
		w.checkpoint()
	case n < 84:
		w.undo()
	case n < 90:
		w.takeBack(w.draw(1, 2, "turns"))
	case n < 94:
		w.revert()
	case n < 96:
		w.clear()
	default:
		w.policy()
	}
}

func (w *checkedService) pin() {
	next := w.row().GetNextIndex()
	if next == 0 {
		return
	}
	_, err := w.service.PinMessages(w.t.Context(), &compactordv1.PinMessagesRequest{
		SessionId: checkedSession, Indexes: []uint32{uint32(w.draw(0, int(next)-1, "index"))},
	})
	if statusCode(err) == codes.FailedPrecondition {
		w.counts["pin of a message put aside"]++
		return
	}
	require.NoError(w.t, err)
	w.counts["pin"]++
}

func (w *checkedService) unpin() {
	view := w.view()
	var shown []uint32
	for _, vm := range view {
		// What stands in for a missing result of a pinned call is out of place, too, and has no index.
		if of, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok && vm.GetOutOfPlace() {
			shown = append(shown, of.Index)
		}
	}
	if len(shown) == 0 {
		return
	}
	answer, err := w.service.UnpinMessages(w.t.Context(), &compactordv1.UnpinMessagesRequest{
		SessionId: checkedSession, Indexes: shown[:1],
	})
	require.NoError(w.t, err)
	if answer.GetRecord() != nil {
		w.counts["unpin"]++
	}
}

// checkpoint creates a checkpoint, announced if no call is open.
func (w *checkedService) checkpoint() {
	_, err := w.service.CreateCheckpoint(w.t.Context(), &compactordv1.CreateCheckpointRequest{
		SessionId: checkedSession, Announce: true,
	})
	if statusCode(err) == codes.FailedPrecondition {
		_, err = w.service.CreateCheckpoint(w.t.Context(), &compactordv1.CreateCheckpointRequest{SessionId: checkedSession})
	}
	require.NoError(w.t, err)
	w.counts["checkpoint"]++
}

func (w *checkedService) undo() {
	w.goBack("undo", &compactordv1.RevertToCheckpointRequest{
		Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
	})
}

func (w *checkedService) takeBack(turns int) {
	w.goBack("turns taken back", &compactordv1.RevertToCheckpointRequest{
		Target: &compactordv1.RevertToCheckpointRequest_Turns{Turns: uint32(turns)},
	})
}

// goBack reverts, and compares the view with that of the point.
func (w *checkedService) goBack(class string, req *compactordv1.RevertToCheckpointRequest) {
	req.SessionId = checkedSession
	answer, err := w.service.RevertToCheckpoint(w.t.Context(), req)
	if statusCode(err) == codes.FailedPrecondition {
		w.counts["nothing to revert"]++
		return
	}
	require.NoError(w.t, err)
	requireSameBytes(w.t, w.viewAt(answer.GetRecord().GetRevert().GetPoint()), w.view())
	w.counts[class]++
}

func (w *checkedService) clear() {
	answer, err := w.service.ClearSession(w.t.Context(), &compactordv1.ClearSessionRequest{SessionId: checkedSession})
	require.NoError(w.t, err)
	for _, vm := range w.view()[w.leading():] {
		require.NotNil(w.t, vm.GetContextBlock(), "a message is left: %v", vm)
	}
	if answer.GetRecord() != nil {
		w.counts["clear"]++
	}
}

// leading counts the SYSTEM and DEVELOPER messages at the start of the view.
func (w *checkedService) leading() uint32 {
	var leading uint32
	for _, vm := range w.view() {
		role := vm.GetMessage().GetRole()
		if role != compactordv1.Role_ROLE_SYSTEM && role != compactordv1.Role_ROLE_DEVELOPER {
			break
		}
		leading++
	}
	return leading
}
