package intake

import (
	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// linked adds the findings of a message that was linked to the log. before is the head before it.
func (in *input) linked(before *storagev1.Head, l *compactordv1.LoggedMessage, i int) {
	if in.logged != nil {
		in.logged(l, i)
	}
	at := in.positions[i]
	switch l.GetMessage().GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		in.callsUnanswered(len(before.GetOpenCalls())-len(session.OpenAfter(before, l.GetMessage())), at)
		in.callIDsReused(before, l, at)
	case compactordv1.Role_ROLE_TOOL:
		in.resultPlaced(l, at)
	default:
	}
}

func (in *input) callsUnanswered(n, at int) {
	switch {
	case n == 1:
		in.addFinding(dialect.InputCallUnanswered, at, 0, "a call before it has no result; views show that there was none")
	case n > 1:
		in.addFinding(dialect.InputCallUnanswered, at, 0, "%d calls before it have no result; views show that there was none", n)
	}
}

func (in *input) callIDsReused(before *storagev1.Head, l *compactordv1.LoggedMessage, at int) {
	if session.Failed(l.GetMessage()) {
		return
	}
	open := make(map[string]bool)
	for _, call := range session.OpenAfter(before, l.GetMessage()) {
		open[call.GetId()] = true
	}
	for _, call := range session.Calls(l.GetMessage(), l.GetIndex()) {
		if open[call.GetId()] {
			in.addFinding(dialect.InputCallIDReused, at, int(call.GetPart()),
				"the id of the call is that of another open call; results answer them in order")
		}
		open[call.GetId()] = true
	}
}

func (in *input) resultPlaced(l *compactordv1.LoggedMessage, at int) {
	id := l.GetMessage().GetParts()[0].GetToolResult().GetCallId()
	if l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_STRAY {
		in.answered[id] = true
		return
	}
	if in.answered[id] {
		in.addFinding(dialect.InputResultRepeated, at, 0, "the call was answered before; views show this result as text of the user")
		return
	}
	in.addFinding(dialect.InputResultWithoutCall, at, 0, "the result answers no open call; views show it as text of the user")
}
