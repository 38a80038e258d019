package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// onAppend decides by policy.on_append how views are to show a result, before any has shown it.
func (a *appending) onAppend(ctx context.Context, l *compactordv1.LoggedMessage) error {
	if len(a.pending.before.GetResolvedPolicy().GetOnAppend().GetStrategies()) == 0 ||
		l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		return nil
	}
	call, err := a.call(ctx, l.GetAnswers())
	if err != nil {
		return err
	}
	l.ArrivalEdits = a.arrivalEdits(ctx, l, call)
	if err := session.CheckArrivalEdits(a.counter, l); err != nil {
		a.service.logger.ErrorContext(ctx, "a result was appended as it is", "error", err)
		l.ArrivalEdits = nil
	}
	return nil
}

// arrivalEdits has the strategies look at a result. A bug of theirs must not keep messages out of the log: the result is
// appended as it is then.
func (a *appending) arrivalEdits(
	ctx context.Context, l *compactordv1.LoggedMessage, call *compactordv1.ToolCall,
) (edits []*compactordv1.ArrivalEdit) {
	defer func() {
		if cause := recover(); cause != nil {
			_ = apierror.Recovered(ctx, a.service.logger, "policy.on_append", "", cause)
			edits = nil
		}
	}()
	return strategies.OnAppend(a.pending.head(), a.counter, a.pending.before.GetResolvedPolicy(), l, call)
}

// call finds a call, among the messages that are pending or in the log, where a message is read once for all its calls.
func (a *appending) call(ctx context.Context, ref *compactordv1.CallRef) (*compactordv1.ToolCall, error) {
	index, first := ref.GetIndex(), a.pending.before.GetHead().GetNextIndex()
	caller := a.callers[index]
	switch {
	case caller != nil:
	case index >= first:
		caller = a.pending.commit.Messages[index-first]
	default:
		var err error
		if caller, err = a.service.message(ctx, a.pending.before, index); err != nil {
			return nil, err
		}
		a.callers[index] = caller
	}
	return caller.GetMessage().GetParts()[ref.GetPart()].GetToolCall(), nil
}
