package views

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// maxCallIDs is the most call ids that one error names.
const maxCallIDs = 100

// InDialect returns a rendered view. It renders and checks the whole view, even where it sends only the end: neighbours
// can merge, and a rule can concern messages that are far apart. The next pages are of the same list. A large view is never
// held as a whole.
func InDialect(
	ctx context.Context, log Log, shape dialect.Dialect, r *Request,
) (*compactordv1.GetLLMViewResponse, error) {
	if err := CallsAnswered(r.Head); err != nil {
		return nil, err
	}
	token := r.token(shape.Kind())
	held, relation := r.held(token)
	goesOn := r.goesOn(held, token, relation)
	if relation == session.DeltaNone {
		held = session.ViewToken{}
	}
	if goesOn || relation == session.DeltaNone {
		if kept, at := r.Kept.goingOn(token, held); kept != nil {
			return r.nextPage(ctx, log, shape, kept, token, at)
		}
	}
	if r.isLarge() {
		return r.longInDialect(ctx, log, shape, token, held, relation)
	}
	state, err := log.State(ctx, r.Row, r.Head)
	if err != nil {
		return nil, err
	}
	view := state.View(r.optionsIn(shape))
	view.With(r.Extra)
	now, err := Render(shape, view, r.MarkBreakpoints)
	if err != nil {
		return nil, err
	}
	if err := now.check(); err != nil {
		return nil, err
	}
	unchanged := heldOf(held, now.stays)
	if !goesOn {
		if unchanged, err = r.unchangedRendered(ctx, log, held, relation, now); err != nil {
			return nil, err
		}
	}
	return r.pageOf(now.list(r.withMetrics(state)), token, unchanged), nil
}

// longInDialect returns the first page of a large view.
func (r *Request) longInDialect(
	ctx context.Context, log Log, shape dialect.Dialect, token, held session.ViewToken, relation session.Delta,
) (*compactordv1.GetLLMViewResponse, error) {
	l, err := r.long(ctx, log, shape)
	if err != nil {
		return nil, err
	}
	list, err := l.list(ctx, held, token, relation)
	if err != nil {
		return nil, err
	}
	if list.first == 0 {
		// For other clients that begin.
		r.Kept.put(keyOf(token), list)
	}
	return r.nextPage(ctx, log, shape, list, token, list.first)
}

// nextPage returns the page of a list from a position on.
func (r *Request) nextPage(
	ctx context.Context, log Log, shape dialect.Dialect, list *renderedList, token session.ViewToken, position int,
) (*compactordv1.GetLLMViewResponse, error) {
	if list.rest != nil {
		l, err := r.long(ctx, log, shape)
		if err != nil {
			return nil, err
		}
		if list, err = l.extended(ctx, list, position); err != nil {
			return nil, err
		}
	}
	return r.pageOf(list, token, position), nil
}

// pageOf returns a page of a list, and keeps the list for the next page.
func (r *Request) pageOf(l *renderedList, token session.ViewToken, unchanged int) *compactordv1.GetLLMViewResponse {
	answer := l.page(token, min(unchanged, l.first+len(l.messages)), r.MaxBytes)
	answer.Report = strategies.ReportAt(r.Row, l.head)
	if answer.GetHasMore() {
		r.Kept.put(keyOf(token), l.after(unchanged+len(answer.GetMessagesJson())))
	} else if l.isWhole() {
		// Other clients can be at other pages of a long list.
		r.Kept.drop(keyOf(token), l.first)
	}
	return answer
}

func (r *Request) optionsIn(shape dialect.Dialect) session.ViewOptions {
	return session.ViewOptions{Thinking: r.Thinking, Dialect: shape.Kind()}
}

// CallsAnswered refuses a session with open calls: no provider accepts a request without their results.
func CallsAnswered(h *storagev1.Head) error {
	open := session.Awaited(h)
	if len(open) == 0 {
		return nil
	}
	ids := make([]string, 0, min(len(open), maxCallIDs))
	for _, call := range open[:min(len(open), maxCallIDs)] {
		ids = append(ids, call.GetId())
	}
	wait := "1 tool call waits for its result"
	if len(open) > 1 {
		wait = fmt.Sprintf("%d tool calls wait for their results", len(open))
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_TOOL_CALLS_OPEN,
		map[string]string{"call_ids": strings.Join(ids, ","), "open_calls": strconv.Itoa(len(open))},
		"%s: append their results first, or a USER message, which has the model go on without them", wait)
}

// unchangedRendered returns how many messages at the start the client already has, byte for byte.
func (r *Request) unchangedRendered(
	ctx context.Context, log Log, held session.ViewToken, relation session.Delta, now *Rendered,
) (int, error) {
	var then *session.View
	switch relation {
	case session.DeltaAppended:
		then = UpTo(now.view, held.NextIndex)
	case session.DeltaChanged:
		head, err := log.HeadAt(ctx, r.Row, held.Point)
		if err != nil {
			return 0, err
		}
		state, err := log.State(ctx, r.Row, head)
		if err != nil {
			return 0, err
		}
		then = state.View(r.optionsIn(now.shape))
	default:
		return 0, nil
	}
	old, err := Render(now.shape, then, now.marked)
	if err != nil {
		return 0, err
	}
	n := 0
	for n < min(int(held.Messages), len(old.Messages), len(now.Messages)) &&
		bytes.Equal(old.Messages[n], now.Messages[n]) {
		n++
	}
	return n, nil
}

// UpTo returns the part of a view that existed when the log's next index was nextIndex. That view was rendered, so no
// call was open then, and repairs of earlier messages are part of it.
func UpTo(v *session.View, nextIndex uint32) *session.View {
	end := 0
	for i, vm := range withoutExtra(v.Messages) {
		switch o := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			if o.Index < nextIndex {
				end = i + 1
			}
		case *compactordv1.ViewMessage_SummaryOf, *compactordv1.ViewMessage_ContextBlock, *compactordv1.ViewMessage_Instructions:
			end = i + 1
		case *compactordv1.ViewMessage_Folded:
			if o.Folded.GetStart() < nextIndex {
				end = i + 1
			}
		case *compactordv1.ViewMessage_LogRepair:
			if o.LogRepair.GetIndex() < nextIndex {
				end = i + 1
			}
		}
	}
	return &session.View{Messages: v.Messages[:end]}
}
