package sessionlog

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// onAppend applies policy.on_append to a tool result, so that its edits are in every view that shows it.
func (a *Appender) onAppend(ctx context.Context, l *compactordv1.LoggedMessage) error {
	if len(a.write.before.GetResolvedPolicy().GetOnAppend().GetStrategies()) == 0 ||
		l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		return nil
	}
	call, err := a.call(ctx, l.GetAnswers())
	if err != nil {
		return err
	}
	l.ArrivalEdits = a.arrivalEdits(ctx, l, call)
	if err := session.CheckArrivalEdits(a.Counter, l); err != nil {
		a.write.logs.logger.ErrorContext(ctx, "a result was appended as it is", "error", err)
		l.ArrivalEdits = nil
	}
	return nil
}

// arrivalEdits asks the strategies for the edits of a result. A bug of theirs must not keep messages out of the log:
// then the result is appended without edits.
func (a *Appender) arrivalEdits(
	ctx context.Context, l *compactordv1.LoggedMessage, call *compactordv1.ToolCall,
) (edits []*compactordv1.Edit) {
	defer func() {
		if cause := recover(); cause != nil {
			_ = apierror.Recovered(ctx, a.write.logs.logger, "policy.on_append", "", cause)
			edits = nil
		}
	}()
	return strategies.OnAppend(a.write.Head(), a.Counter, a.write.before.GetResolvedPolicy(), l, call)
}

// call returns the call of a reference. Its message is in this write or in the log, where it is read only once.
func (a *Appender) call(ctx context.Context, ref *compactordv1.CallRef) (*compactordv1.ToolCall, error) {
	index, first := ref.GetIndex(), a.write.before.GetHead().GetNextIndex()
	caller := a.calls[index]
	switch {
	case caller != nil:
	case index >= first:
		caller = a.write.commit.Messages[index-first]
	default:
		var err error
		if caller, err = a.write.logs.Message(ctx, a.write.before, index); err != nil {
			return nil, err
		}
		a.calls[index] = caller
	}
	return caller.GetMessage().GetParts()[ref.GetPart()].GetToolCall(), nil
}
