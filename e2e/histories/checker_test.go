package histories_test

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

// checker compares the calls with what is left.
type checker struct {
	calls []*call
	left  map[string]*left
	logs  map[string]*sessiontest.Log
	// spans are the places in the logs of the calls that wrote something.
	spans    map[*call]span
	problems []string
}

// span is a part of a log, by sequences, both included.
type span struct{ first, last uint32 }

// check returns what the calls do not explain of what is left, and the reverse.
func check(calls []*call, all map[string]*left) []string {
	c := &checker{calls: calls, left: all, logs: make(map[string]*sessiontest.Log), spans: make(map[*call]span)}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if c.dense(id) {
			c.logs[id] = all[id].log()
		}
	}
	c.checkSessions()
	for _, id := range slices.Sorted(maps.Keys(c.logs)) {
		if c.left[id].session.GetForkedFrom() != nil {
			continue
		}
		c.checkAppends(id)
		c.checkRecords(id)
	}
	c.checkOrder()
	for _, call := range calls {
		if call.outcome == answered {
			c.checkRead(call)
		}
	}
	return c.problems
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// dense reports whether each sequence is that of one message or record.
func (c *checker) dense(id string) bool {
	l := c.left[id]
	seen := make([]bool, len(l.messages)+len(l.records))
	note := func(sequence uint32) bool {
		if int(sequence) >= len(seen) || seen[sequence] {
			c.report("session %s: sequence %d is there twice, or others are missing", id, sequence)
			return false
		}
		seen[sequence] = true
		return true
	}
	for i, m := range l.messages {
		if m.GetIndex() != uint32(i) {
			c.report("session %s: message %d in the place of message %d", id, m.GetIndex(), i)
			return false
		}
		if !note(m.GetSequence()) {
			return false
		}
	}
	return !slices.ContainsFunc(l.records, func(r *compactordv1.Record) bool { return !note(r.GetSequence()) })
}

// checkSessions compares the sessions with the calls that make some.
func (c *checker) checkSessions() {
	made := make(map[string]bool)
	for _, call := range c.calls {
		fork, forks := call.request.(*compactordv1.ForkSessionRequest)
		if _, creates := call.request.(*compactordv1.CreateSessionRequest); !creates && !forks {
			continue
		}
		got := c.left[call.session]
		made[call.session] = true
		switch {
		case got == nil && call.outcome == answered:
			c.report("session %s was acknowledged, and is not there", call.session)
		case got != nil && call.outcome == refused:
			c.report("session %s is there though it was refused: %v", call.session, call.err)
		case got != nil && forks:
			c.checkFork(call.session, fork.GetSessionId(), fork.GetPoint())
		}
	}
	for id := range c.left {
		if !made[id] {
			c.report("session %s was made by nobody", id)
		}
	}
}

// checkFork compares the messages of a fork with those of its source.
func (c *checker) checkFork(id, source string, point uint32) {
	log := c.logs[source]
	if log == nil || point > log.Newest() {
		c.report("session %s was forked at point %d of %s, which is not there", id, point, source)
		return
	}
	var want []*compactordv1.Message
	for _, item := range log.Items[:point+1] {
		if item.Message != nil {
			want = append(want, item.Message)
		}
	}
	same := slices.EqualFunc(c.left[id].messages, want, func(got *compactordv1.LoggedMessage, want *compactordv1.Message) bool {
		return proto.Equal(got.GetMessage(), want)
	})
	if !same {
		c.report("session %s: its messages are not those of %s at point %d", id, source, point)
	}
}

// checkAppends finds each append in the log.
func (c *checker) checkAppends(id string) {
	places := make(map[string][]*compactordv1.LoggedMessage)
	for _, m := range c.left[id].messages {
		places[markOf(m.GetMessage())] = append(places[markOf(m.GetMessage())], m)
	}
	for _, call := range c.calls {
		r, ok := call.request.(*compactordv1.AppendMessagesRequest)
		if !ok || call.session != id {
			continue
		}
		var found []*compactordv1.LoggedMessage
		for n, m := range r.GetMessages() {
			at := places[markOf(m)]
			delete(places, markOf(m))
			if len(at) > 1 {
				c.report("session %s: message %d of %s is there %d times", id, n, r.GetRequestId(), len(at))
			}
			found = append(found, at...)
		}
		c.checkAppend(call, r, found)
	}
	for mark, list := range places {
		c.report("session %s: message %d, %q, was sent by nobody", id, list[0].GetIndex(), mark)
	}
}

// checkAppend compares an append with its messages in the log.
func (c *checker) checkAppend(call *call, r *compactordv1.AppendMessagesRequest, found []*compactordv1.LoggedMessage) {
	switch {
	case len(found) == 0 && call.outcome == answered:
		c.report("session %s: %s was acknowledged, and is not there", call.session, r.GetRequestId())
		return
	case len(found) == 0:
		return
	case call.outcome == refused:
		c.report("session %s: %s is there though it was refused: %v", call.session, r.GetRequestId(), call.err)
	case len(found) != len(r.GetMessages()):
		c.report("session %s: %d of %d messages of %s are there", call.session, len(found), len(r.GetMessages()), r.GetRequestId())
	}
	first := found[0]
	if r.ExpectedNextIndex != nil && r.GetExpectedNextIndex() != first.GetIndex() {
		c.report("session %s: %s is at message %d, and was only wanted at %d", call.session, r.GetRequestId(), first.GetIndex(), r.GetExpectedNextIndex())
	}
	for n, m := range found {
		if m.GetIndex() != first.GetIndex()+uint32(n) || m.GetSequence() != first.GetSequence()+uint32(n) {
			c.report("session %s: the messages of %s do not follow each other", call.session, r.GetRequestId())
		}
		got := proto.CloneOf(m.GetMessage())
		got.Origin = compactordv1.Origin_ORIGIN_UNSPECIFIED
		if n < len(r.GetMessages()) && !proto.Equal(got, r.GetMessages()[n]) {
			c.report("session %s: message %d is not what %s sent", call.session, m.GetIndex(), r.GetRequestId())
		}
	}
	last := found[len(found)-1]
	c.spans[call] = span{first.GetSequence(), last.GetSequence()}
	if a, ok := call.answer.(*compactordv1.AppendMessagesResponse); ok {
		if a.GetFirstIndex() != first.GetIndex() || a.GetNextIndex() != last.GetIndex()+1 || a.GetPoint() != last.GetSequence() {
			c.report("session %s: %s was acknowledged as messages %d to %d at point %d, and they are %d to %d at point %d", call.session,
				r.GetRequestId(), a.GetFirstIndex(), a.GetNextIndex()-1, a.GetPoint(), first.GetIndex(), last.GetIndex(), last.GetSequence())
		}
	}
}

// checkOrder finds calls that began after another one had ended, and stand before it.
func (c *checker) checkOrder() {
	for earlier, before := range c.spans {
		for later, after := range c.spans {
			if earlier.session == later.session && earlier.ended < later.began && before.last >= after.first {
				c.report("session %s: %T at sequence %d began after %T at sequence %d had ended",
					later.session, later.request, after.first, earlier.request, before.last)
			}
		}
	}
}
