package views

import (
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

// InDialect returns a rendered view, which it has checked by the provider's rules as a whole: neighbours can merge, and a
// rule can concern messages that are far apart. What the client has, and what is remembered of it, is neither drawn nor
// rendered again. The next pages are of the same list. A large view is never held as a whole.
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
	l, err := r.rendering(ctx, log, shape)
	if err != nil {
		return nil, err
	}
	list, err := l.list(ctx, held, token, relation)
	if err != nil {
		return nil, err
	}
	if list.first == 0 && list.rest != nil {
		// For other clients that begin.
		r.Kept.put(keyOf(token), list)
	}
	return r.nextPage(ctx, log, shape, list, token, list.first)
}

// nextPage returns the page of a list from a position on.
func (r *Request) nextPage(
	ctx context.Context, log Log, shape dialect.Dialect, list *renderedList, token session.ViewToken, position int,
) (*compactordv1.GetLLMViewResponse, error) {
	if !list.has(position, r.MaxBytes) {
		l, err := r.rendering(ctx, log, shape)
		if err != nil {
			return nil, err
		}
		if list, err = l.extended(ctx, list, position); err != nil {
			return nil, err
		}
	}
	answer := r.pageOf(list, token, position)
	if r.Sources {
		item, err := r.itemPlace(ctx, log, shape)
		if err != nil {
			return nil, err
		}
		answer.Sources = list.sourcesOf(int(answer.GetUnchangedPrefix()), len(answer.GetMessagesJson()), item)
	}
	return answer, nil
}

// pageOf returns a page of a list, and keeps the list for the next page.
func (r *Request) pageOf(l *renderedList, token session.ViewToken, unchanged int) *compactordv1.GetLLMViewResponse {
	unchanged = min(unchanged, l.first+len(l.messages))
	answer := l.page(token, unchanged, r.MaxBytes)
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
