package views

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Neutral answers with neutral messages.
func Neutral(ctx context.Context, log Log, r *Request) (*compactordv1.GetLLMViewResponse, error) {
	token := r.token(compactordv1.Dialect_DIALECT_UNSPECIFIED)
	held, relation := r.held(token)
	draw := r.drawWhole
	if relation == session.DeltaAppended && held.NextIndex > 0 && r.isPlain() {
		draw = r.drawAppended
	}
	fresh, err := draw(ctx, log, held, relation)
	if err != nil {
		return nil, err
	}
	answer := fresh.page(token, r.MaxBytes)
	answer.Report = strategies.Report(fresh.head, r.Row.GetResolvedPolicy())
	return answer, nil
}

// isPlain says that the figures of the head are those of the view that is asked for.
func (r *Request) isPlain() bool {
	return r.isNewest() && r.Thinking == compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED
}

// fresh is what a client lacks of a view.
type fresh struct {
	head *storagev1.Head
	// unchanged is how many messages of the view the client holds; messages follow them.
	unchanged uint32
	messages  []*compactordv1.ViewMessage
	report    *compactordv1.ViewReport
	// breakpoints are the positions in the view after which a cache breakpoint pays, of those in messages.
	breakpoints []uint32
	// resumable says that the view can be drawn from any of its messages on, without what stands before.
	resumable bool
}

// drawAppended draws only what was appended since the client's view.
func (r *Request) drawAppended(
	ctx context.Context, log Log, held session.ViewToken, _ session.Delta,
) (*fresh, error) {
	state, err := log.StateFrom(ctx, r.Row, r.Head, held.NextIndex)
	if err != nil {
		return nil, err
	}
	view := state.ViewFrom(held.NextIndex, session.ViewOptions{})
	view.Report.Tokens, view.Report.Bytes = r.Head.GetViewTokens(), r.Head.GetViewBytes()
	f := &fresh{
		head: r.Head, unchanged: held.Messages, messages: view.Messages, report: view.Report,
		resumable: state.InLogOrder(),
	}
	if n := len(f.messages); n > 0 {
		f.breakpoints = []uint32{f.unchanged + uint32(n) - 1}
	}
	return f, nil
}

// drawWhole draws the whole view, and leaves out what the client holds of it.
func (r *Request) drawWhole(
	ctx context.Context, log Log, held session.ViewToken, relation session.Delta,
) (*fresh, error) {
	state, err := log.State(ctx, r.Row, r.Head)
	if err != nil {
		return nil, err
	}
	f := &fresh{
		head:      r.withMetrics(state),
		resumable: r.isPlain() && !collapses(state) && state.InLogOrder(),
	}
	view := state.View(session.ViewOptions{Thinking: r.Thinking})
	switch relation {
	case session.DeltaAppended:
		f.unchanged = min(held.Messages, uint32(len(view.Messages)))
	case session.DeltaChanged:
		f.unchanged = min(held.Messages, unchangedSince(view, f.head, held.Point))
	default:
	}
	f.messages, f.report = view.Messages[f.unchanged:], view.Report
	for _, end := range stableEnds(view.Messages) {
		if uint32(end) >= f.unchanged {
			f.breakpoints = append(f.breakpoints, uint32(end))
		}
	}
	return f, nil
}

// unchangedSince counts the messages at the start of a view that no change since a point has touched.
func unchangedSince(view *session.View, h *storagev1.Head, point uint32) uint32 {
	changedFrom := h.GetNextIndex()
	for _, mark := range h.GetChanges() {
		if mark.GetSequence() > point {
			changedFrom = min(changedFrom, mark.GetChangedFrom())
		}
	}
	var unchanged uint32
	for _, vm := range view.Messages {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_SummaryOf:
			if changedFrom < session.KeptFrom(h) {
				return unchanged
			}
		case *compactordv1.ViewMessage_Index:
			if o.Index >= changedFrom {
				return unchanged
			}
		case *compactordv1.ViewMessage_LogRepair:
			if o.LogRepair.GetIndex() >= changedFrom {
				return unchanged
			}
		}
		unchanged++
	}
	return unchanged
}

// collapses says whether a group is collapsed: its results are left out by an edit that stands before them.
func collapses(s *session.State) bool {
	for _, edits := range s.Edits {
		for _, e := range edits {
			if e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP {
				return true
			}
		}
	}
	return false
}

// page cuts what is new to the size that was asked for.
func (f *fresh) page(token session.ViewToken, maxBytes int) *compactordv1.GetLLMViewResponse {
	f.report.SuggestedBreakpoints = f.breakpoints
	answer := &compactordv1.GetLLMViewResponse{UnchangedPrefix: f.unchanged, ViewReport: f.report}
	size := 0
	for _, vm := range f.messages {
		size += proto.Size(vm)
		if len(answer.GetMessages()) > 0 && size > maxBytes {
			answer.HasMore = true
			break
		}
		answer.Messages = append(answer.Messages, vm)
	}
	token.Messages = f.unchanged + uint32(len(answer.GetMessages()))
	if answer.GetHasMore() {
		token.NextIndex = f.nextIndex(len(answer.GetMessages()))
	}
	answer.ViewToken = token.String()
	return answer
}

// nextIndex is where the view goes on after the first n of what is new; 0 where that cannot be told by an index, and the
// view has to be drawn whole again: among what is shown out of place, or between a repair and the message it stands before.
func (f *fresh) nextIndex(n int) uint32 {
	next := f.messages[n]
	o, inLog := next.GetOrigin().(*compactordv1.ViewMessage_Index)
	if !f.resumable || !inLog || next.GetOutOfPlace() || o.Index < session.KeptFrom(f.head) ||
		f.messages[n-1].GetLogRepair().GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT {
		return 0
	}
	return o.Index
}
