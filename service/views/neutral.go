package views

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Neutral returns a view as neutral messages.
func Neutral(ctx context.Context, log Log, r *Request) (*compactordv1.GetLLMViewResponse, error) {
	token := r.token(compactordv1.Dialect_DIALECT_UNSPECIFIED)
	held, relation := r.held(token)
	build := r.wholeDelta
	if relation == session.DeltaAppended && held.NextIndex > 0 && r.isPlain() {
		build = r.appendedDelta
	}
	missing, err := build(ctx, log, held, relation)
	if err != nil {
		return nil, err
	}
	answer := missing.page(token, r.MaxBytes)
	answer.Report = strategies.ReportAt(r.Row, missing.head)
	return answer, nil
}

// isPlain says that the head has the figures of the requested view.
func (r *Request) isPlain() bool {
	return r.isNewest() && r.Thinking == compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED
}

// delta is the part of a view that the client lacks.
type delta struct {
	head *storagev1.Head
	// unchanged is how many messages of the view the client has; messages follow them.
	unchanged uint32
	messages  []*compactordv1.ViewMessage
	report    *compactordv1.ViewReport
	// breakpoints are the positions in the view after which a cache breakpoint is useful, if they are in messages.
	breakpoints []uint32
	// resumable says that the view can be built from any of its messages on, without those before.
	resumable bool
}

// appendedDelta builds only what was appended since the client's view.
func (r *Request) appendedDelta(
	ctx context.Context, log Log, held session.ViewToken, _ session.Delta,
) (*delta, error) {
	state, err := log.StateFrom(ctx, r.Row, r.Head, held.NextIndex)
	if err != nil {
		return nil, err
	}
	view := state.ViewFrom(held.NextIndex, session.ViewOptions{})
	view.Report.Tokens, view.Report.Bytes = r.Head.GetViewTokens(), r.Head.GetViewBytes()
	d := &delta{
		head: r.Head, unchanged: held.Messages, messages: view.Messages, report: view.Report,
		resumable: state.InLogOrder(),
	}
	if n := len(d.messages); n > 0 {
		d.breakpoints = []uint32{d.unchanged + uint32(n) - 1}
	}
	return d, nil
}

// wholeDelta builds the whole view, and leaves out what the client has.
func (r *Request) wholeDelta(
	ctx context.Context, log Log, held session.ViewToken, relation session.Delta,
) (*delta, error) {
	state, err := log.State(ctx, r.Row, r.Head)
	if err != nil {
		return nil, err
	}
	d := &delta{
		head:      r.withMetrics(state),
		resumable: r.isPlain() && !collapses(state) && state.InLogOrder(),
	}
	view := state.View(session.ViewOptions{Thinking: r.Thinking})
	switch relation {
	case session.DeltaAppended:
		d.unchanged = min(held.Messages, uint32(len(view.Messages)))
	case session.DeltaChanged:
		d.unchanged = min(held.Messages, unchangedSince(view, d.head, held.Point))
	default:
	}
	d.messages, d.report = view.Messages[d.unchanged:], view.Report
	for _, end := range stableEnds(view.Messages) {
		if uint32(end) >= d.unchanged {
			d.breakpoints = append(d.breakpoints, uint32(end))
		}
	}
	return d, nil
}

// unchangedSince returns how many messages at the start of a view have not changed since a point.
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

// collapses says whether a tool group is collapsed. Its results are left out because of an edit of an earlier message.
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

// page returns the messages that fit into maxBytes, and at least one.
func (d *delta) page(token session.ViewToken, maxBytes int) *compactordv1.GetLLMViewResponse {
	d.report.SuggestedBreakpoints = d.breakpoints
	answer := &compactordv1.GetLLMViewResponse{UnchangedPrefix: d.unchanged, ViewReport: d.report}
	size := 0
	for _, vm := range d.messages {
		size += proto.Size(vm)
		if len(answer.GetMessages()) > 0 && size > maxBytes {
			answer.HasMore = true
			break
		}
		answer.Messages = append(answer.Messages, vm)
	}
	token.Messages = d.unchanged + uint32(len(answer.GetMessages()))
	if answer.GetHasMore() {
		token.NextIndex = d.nextIndex(len(answer.GetMessages()))
	}
	answer.ViewToken = token.String()
	return answer
}

// nextIndex returns the log index from which the view goes on after the first n messages. It returns 0 where an index
// cannot say that, and the view has to be built whole again: among messages out of place, or between a repair and the
// message after it.
func (d *delta) nextIndex(n int) uint32 {
	next := d.messages[n]
	o, inLog := next.GetOrigin().(*compactordv1.ViewMessage_Index)
	if !d.resumable || !inLog || next.GetOutOfPlace() || o.Index < session.KeptFrom(d.head) ||
		d.messages[n-1].GetLogRepair().GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT {
		return 0
	}
	return o.Index
}
