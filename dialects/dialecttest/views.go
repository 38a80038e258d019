package dialecttest

import (
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// ViewOf appends messages to a log and returns its view: calls without a result get one, and results without a call
// become texts. Open calls at the end are given up, since a USER message follows.
func ViewOf(messages []*compactordv1.Message) []*compactordv1.Message {
	w := sessiontest.NewWriter(&compactordv1.Policy{})
	for _, m := range messages {
		w.Append(proto.CloneOf(m), nil)
	}
	return ClosedView(w)
}

// ClosedView returns the view of a log, after a USER message where calls are open.
func ClosedView(w *sessiontest.Writer) []*compactordv1.Message {
	if len(session.Awaited(w.Head)) > 0 {
		w.Append(&compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{textPart("Go on.")},
		}, nil)
	}
	var shown []*compactordv1.Message
	for _, vm := range w.State().View(session.ViewOptions{}).Messages {
		shown = append(shown, vm.GetMessage())
	}
	return shown
}
