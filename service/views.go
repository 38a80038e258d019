package service

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
)

// GetLLMView implements CompactionService.
func (s *Service) GetLLMView(
	ctx context.Context, req *compactordv1.GetLLMViewRequest,
) (*compactordv1.GetLLMViewResponse, error) {
	switch {
	case req.GetHistory() != nil:
		return s.viewInline(ctx, req)
	case req.GetPolicy() != nil:
		return nil, apierror.InvalidField("policy", "goes with a history: a session has its own")
	case req.GetMarkCacheBreakpoints() && req.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED:
		return nil, apierror.InvalidField("mark_cache_breakpoints", "needs a dialect: neutral messages have no place for marks")
	}
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	head := row.GetHead()
	if req.AsOf != nil {
		if head, err = s.headAt(ctx, row, req.GetAsOf(), "as_of"); err != nil {
			return nil, err
		}
	}
	d := &delta{
		row: row, head: head, options: session.ViewOptions{Thinking: req.GetThinking()},
		token: session.ViewToken{UID: row.GetUid(), Point: session.Point(head), NextIndex: head.GetNextIndex()},
	}
	d.token.Options = session.HashOptions(
		req.GetDialect(), row.GetResolvedPolicy(), d.options, req.GetMarkCacheBreakpoints())
	if req.GetDialect() != compactordv1.Dialect_DIALECT_UNSPECIFIED {
		answer, err := s.renderedView(ctx, req, d)
		if err != nil {
			return nil, err
		}
		answer.Report = session.Report(d.head, row.GetResolvedPolicy())
		return answer, nil
	}
	if err := s.draw(ctx, d, req.GetViewToken()); err != nil {
		return nil, err
	}
	answer := d.page(answerBytes(req.GetMaxBytes()))
	answer.Report = session.Report(d.head, row.GetResolvedPolicy())
	return answer, nil
}

// delta is a view, or what is new of it since the one that a client holds.
type delta struct {
	row     *storagev1.Session
	head    *storagev1.Head
	options session.ViewOptions
	// token names the view that is drawn.
	token session.ViewToken
	// unchanged is how many messages of the view the client holds, fresh what follows them.
	unchanged uint32
	fresh     []*compactordv1.ViewMessage
	report    *compactordv1.ViewReport
	// ends are the positions after which a cache breakpoint pays, of those in fresh.
	ends []uint32
	// resumable says that the view can be drawn from any of its messages on, without what stands before.
	resumable bool
}

// draw draws what the holder of the last token lacks. A token that does not fit is as good as none.
func (s *Service) draw(ctx context.Context, d *delta, last string) error {
	relation := session.DeltaNone
	held, err := session.ParseViewToken(last)
	if err == nil {
		relation = held.Compare(d.head, d.row.GetUid(), d.token.Options)
	}
	// The figures of the head are those of now under the policy's own options.
	plain := d.head == d.row.GetHead() && d.options == session.ViewOptions{}
	if relation == session.DeltaAppended && held.NextIndex > 0 && plain {
		state, err := s.logs.StateFrom(ctx, d.row, d.head, held.NextIndex)
		if err != nil {
			return err
		}
		view := state.ViewFrom(held.NextIndex, d.options)
		view.Report.Tokens, view.Report.Bytes = d.head.GetViewTokens(), d.head.GetViewBytes()
		d.unchanged, d.fresh, d.report = held.Messages, view.Messages, view.Report
		d.resumable = state.InLogOrder()
		if n := len(d.fresh); n > 0 {
			d.ends = []uint32{d.unchanged + uint32(n) - 1}
		}
		return nil
	}
	state, err := s.logs.State(ctx, d.row, d.head)
	if err != nil {
		return err
	}
	// A head that was rolled forward to an earlier point has the figures of the policy of then.
	if d.head != d.row.GetHead() {
		d.head = state.WithMetrics()
	}
	view := state.View(d.options)
	switch relation {
	case session.DeltaAppended:
		d.unchanged = min(held.Messages, uint32(len(view.Messages)))
	case session.DeltaChanged:
		d.unchanged = min(held.Messages, unchangedBefore(view, d.head, held.Point))
	default:
	}
	d.fresh, d.report = view.Messages[d.unchanged:], view.Report
	for _, end := range stableEnds(view.Messages) {
		if uint32(end) >= d.unchanged {
			d.ends = append(d.ends, uint32(end))
		}
	}
	d.resumable = plain && !collapses(state) && state.InLogOrder()
	return nil
}

// unchangedBefore counts the messages at the start of a view that no change since a point has touched.
func unchangedBefore(view *session.View, h *storagev1.Head, point uint32) uint32 {
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
		case *compactordv1.ViewMessage_Mend:
			if o.Mend.GetIndex() >= changedFrom {
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

// nextIndex is where the view goes on after the first n of what is new; 0 where that cannot be told by an index, and the
// view has to be drawn whole again: among what is shown out of place, or between a mend and the message it stands before.
func (d *delta) nextIndex(n int) uint32 {
	next := d.fresh[n]
	o, inLog := next.GetOrigin().(*compactordv1.ViewMessage_Index)
	if !d.resumable || !inLog || next.GetOutOfPlace() || o.Index < session.KeptFrom(d.head) ||
		d.fresh[n-1].GetMend().GetKind() == compactordv1.MendKind_MEND_KIND_MISSING_RESULT {
		return 0
	}
	return o.Index
}

// page cuts what is new to the size that was asked for.
func (d *delta) page(maxBytes int) *compactordv1.GetLLMViewResponse {
	d.report.PrefixValidThrough, d.report.SuggestedBreakpoints = d.unchanged, d.ends
	answer := &compactordv1.GetLLMViewResponse{UnchangedPrefix: d.unchanged, ViewReport: d.report}
	size := 0
	for _, vm := range d.fresh {
		size += proto.Size(vm)
		if len(answer.GetMessages()) > 0 && size > maxBytes {
			answer.HasMore = true
			break
		}
		answer.Messages = append(answer.Messages, vm)
	}
	d.token.Messages = d.unchanged + uint32(len(answer.GetMessages()))
	if answer.GetHasMore() {
		d.token.NextIndex = d.nextIndex(len(answer.GetMessages()))
	}
	answer.ViewToken = d.token.String()
	return answer
}
