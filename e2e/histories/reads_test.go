package histories_test

import (
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// checkRead compares what a call read with the log of that time.
func (c *checker) checkRead(call *call) {
	if answer, ok := call.answer.(*compactordv1.ListSessionsResponse); ok {
		c.checkListing(call, answer)
		return
	}
	if c.logs[call.session] == nil {
		// That is reported of the session.
		return
	}
	switch answer := call.answer.(type) {
	case *compactordv1.GetSessionResponse:
		c.checkSession(call, answer.GetSession())
	case *compactordv1.ListMessagesResponse:
		c.checkMessages(call, answer)
	case *compactordv1.GetLLMViewResponse:
		c.checkView(call, answer)
	}
}

// bounds returns the points that a session can have had during a call: not before what had ended when it began, and
// before what began when it had ended.
func (c *checker) bounds(call *call) (low, high uint32) {
	high = math.MaxUint32
	for other, s := range c.spans {
		if other.session != call.session {
			continue
		}
		if other.ended < call.began {
			low = max(low, s.last)
		}
		if other.began > call.ended {
			high = min(high, s.first-1)
		}
	}
	return low, high
}

// at reports whether a call can have seen a point.
func (c *checker) at(call *call, point uint32) bool {
	low, high := c.bounds(call)
	if point < low || point > high || point > c.logs[call.session].Newest() {
		c.report("session %s: %T saw point %d, and the points then were %d to %d", call.session, call.request, point, low, high)
		return false
	}
	return true
}

func (c *checker) checkListing(call *call, answer *compactordv1.ListSessionsResponse) {
	listed := make(map[string]bool)
	for _, s := range answer.GetSessions() {
		if listed[s.GetSessionId()] {
			c.report("session %s is listed twice", s.GetSessionId())
		}
		listed[s.GetSessionId()] = true
	}
	for _, other := range c.calls {
		switch other.request.(type) {
		case *compactordv1.CreateSessionRequest, *compactordv1.ForkSessionRequest:
		default:
			continue
		}
		if other.outcome == answered && other.ended < call.began && !listed[other.session] {
			c.report("session %s was acknowledged, and then not listed", other.session)
		}
		if other.began > call.ended && listed[other.session] {
			c.report("session %s is listed before it was made", other.session)
		}
	}
}

func (c *checker) checkSession(call *call, s *compactordv1.Session) {
	if !c.at(call, s.GetPoint()) {
		return
	}
	if want := c.logs[call.session].Messages(s.GetPoint()); s.GetNextIndex() != want {
		c.report("session %s: it had %d messages at point %d, and %d were said", call.session, want, s.GetPoint(), s.GetNextIndex())
	}
}

func (c *checker) checkMessages(call *call, answer *compactordv1.ListMessagesResponse) {
	all, got := c.left[call.session].messages, answer.GetMessages()
	same := len(got) <= len(all) && slices.EqualFunc(got, all[:len(got)], func(a, b *compactordv1.LoggedMessage) bool {
		return a.GetIndex() == b.GetIndex() && a.GetSequence() == b.GetSequence() && proto.Equal(a.GetMessage(), b.GetMessage())
	})
	if !same {
		c.report("session %s: a listing shows other messages than the log", call.session)
		return
	}
	low, high := c.bounds(call)
	log := c.logs[call.session]
	high = min(high, log.Newest())
	if n := uint32(len(got)); n < log.Messages(low) || n > log.Messages(high) {
		c.report("session %s: %d messages are listed, and there were %d to %d then", call.session, n, log.Messages(low), log.Messages(high))
	}
}

func (c *checker) checkView(call *call, answer *compactordv1.GetLLMViewResponse) {
	r, _ := call.request.(*compactordv1.GetLLMViewRequest)
	token, err := session.ParseViewToken(answer.GetViewToken())
	if err != nil || answer.GetHasMore() {
		c.report("session %s: a view with the token %q", call.session, answer.GetViewToken())
		return
	}
	if r.AsOf != nil {
		if token.Point != r.GetAsOf() {
			c.report("session %s: the view as of %d is that of %d", call.session, r.GetAsOf(), token.Point)
		}
	} else if !c.at(call, token.Point) {
		return
	}
	want := viewAt(c.logs[call.session], token.Point)
	if before, err := session.ParseViewToken(r.GetViewToken()); err == nil && answer.GetUnchangedPrefix() > 0 {
		old, n := viewAt(c.logs[call.session], before.Point), int(answer.GetUnchangedPrefix())
		if n > len(old) || n > len(want) || !sameView(old[:n], want[:n]) {
			c.report("session %s: of the view at %d, %d messages are not the same at %d", call.session, before.Point, n, token.Point)
			return
		}
		want = want[n:]
	}
	if !sameView(want, answer.GetMessages()) {
		c.report("session %s: the view at point %d is not that of the model:\n%v\n%v", call.session, token.Point, answer.GetMessages(), want)
	}
}

// viewAt returns the view of the naive model at a point; nil where the log does not reach it.
func viewAt(log *sessiontest.Log, point uint32) []*compactordv1.ViewMessage {
	if point > log.Newest() {
		return nil
	}
	return sessiontest.NewModel(log, point, log.PolicyAt(point)).View(session.ViewOptions{}).Messages
}

func sameView(a, b []*compactordv1.ViewMessage) bool {
	return slices.EqualFunc(a, b, func(a, b *compactordv1.ViewMessage) bool {
		return slices.Equal(sessiontest.Bytes(a), sessiontest.Bytes(b))
	})
}
