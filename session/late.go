package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Awaited returns the calls whose results must come before the model can be asked. Once something was said to the model
// after them, there are none: the view shows the calls as given up. Their results may still come until the model has
// answered.
func Awaited(h *storagev1.Head) []*compactordv1.CallRef {
	if h.GetSaidMeanwhile() {
		return nil
	}
	return h.GetOpenCalls()
}

// hasUnansweredCalls reports whether a result may still come for a call: one that takes its place before what is said
// now, or one that views leave out.
func hasUnansweredCalls(h *storagev1.Head) bool {
	return len(h.GetOpenCalls())+len(h.GetVoidCalls()) > 0
}

// OpenAfter returns the calls that are still open after a message that answers none of them.
func OpenAfter(h *storagev1.Head, m *compactordv1.Message) []*compactordv1.CallRef {
	if closesCalls(h, m) {
		return nil
	}
	return h.GetOpenCalls()
}

// closesCalls reports whether a message shows that the model was asked without the results of the open calls.
// Consecutive ASSISTANT messages are pieces of one answer, and an answer that failed shows nothing.
func closesCalls(h *storagev1.Head, m *compactordv1.Message) bool {
	return isModelAnswer(m) && (h.GetSaidMeanwhile() || !h.GetAnswering())
}

// isModelAnswer reports whether a message is an ASSISTANT message that did not fail.
func isModelAnswer(m *compactordv1.Message) bool {
	return m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && !Failed(m)
}

// isLateResult reports whether a message is the result of a call that the view shows as given up.
func isLateResult(h *storagev1.Head, l *compactordv1.LoggedMessage) bool {
	return h.GetSaidMeanwhile() && l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER
}

// advanceLateResult replaces the stand-in for a missing result by the late result. Like a record, this changes a view
// that a client may already have. The result's tool loop ended when something was said to the model.
func advanceLateResult(h *storagev1.Head, c Counter, l *compactordv1.LoggedMessage) {
	m := missingResult(l.GetAnswers())
	tokens := MessageTokens(c, m)
	h.ViewMessages--
	h.ViewTokens -= min(tokens, h.GetViewTokens())
	h.ViewBytes -= uint32(proto.Size(m))
	h.TailTokens -= min(tokens, h.GetTailTokens())
	if u := h.GetUsage(); u != nil {
		u.MessagesAfter--
		u.TokensAfter -= min(tokens, u.GetTokensAfter())
	}
	pushMark(h, l.GetSequence(), l.GetIndex())
	h.LastLateResult = l.GetSequence()
}

// lateResults returns the calls whose results came after something was said to the model.
func lateResults(messages []*compactordv1.LoggedMessage) map[callKey]bool {
	var came map[callKey]bool
	said := -1
	for _, l := range messages {
		switch {
		case isSaidToModel(l):
			said = int(l.GetIndex())
		case answersCall(l) && int(l.GetAnswers().GetIndex()) < said:
			if came == nil {
				came = make(map[callKey]bool)
			}
			came[keyOf(l.GetAnswers())] = true
		}
	}
	return came
}

// inViewOrder moves late results to their places in views: next to their calls, before what was said to the model
// meanwhile. All other messages keep the order of the log.
func inViewOrder(messages []*compactordv1.LoggedMessage, late map[callKey]bool) []*compactordv1.LoggedMessage {
	if len(late) == 0 {
		return messages
	}
	ordered := make([]*compactordv1.LoggedMessage, 0, len(messages))
	var said []*compactordv1.LoggedMessage
	awaited := make(map[callKey]bool)
	settle := func() {
		ordered, said = append(ordered, said...), nil
		clear(awaited)
	}
	for _, l := range messages {
		m := l.GetMessage()
		switch {
		case isModelAnswer(m):
			if len(said) > 0 {
				settle()
			}
			ordered = append(ordered, l)
			for _, call := range Calls(m, l.GetIndex()) {
				if late[keyOf(call)] {
					awaited[keyOf(call)] = true
				}
			}
		case answersCall(l):
			ordered = append(ordered, l)
			if delete(awaited, keyOf(l.GetAnswers())); len(awaited) == 0 {
				settle()
			}
		case len(said) > 0 || len(awaited) > 0 && isSaidToModel(l):
			said = append(said, l)
		default:
			ordered = append(ordered, l)
		}
	}
	settle()
	return ordered
}

// isSaidToModel reports whether views show a message as something said to the model. This includes stray results.
func isSaidToModel(l *compactordv1.LoggedMessage) bool {
	r := l.GetMessage().GetRole()
	return r == compactordv1.Role_ROLE_USER || Leads(r) || l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY
}

func answersCall(l *compactordv1.LoggedMessage) bool {
	return l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER
}

// callKey identifies a call in a log.
type callKey struct{ index, part uint32 }

func keyOf(c *compactordv1.CallRef) callKey { return callKey{c.GetIndex(), c.GetPart()} }
